import { mcpTools, type McpCommand, type McpSource } from '@celestea/mcp';
import { describe, expect, test } from 'vitest';

import { ChildTransport } from '../src/child-transport.ts';
import { freshFolder, gone, runs } from './support/processes.ts';
import { byHand } from './support/servers.ts';
import {
  failure,
  nextChange,
  open,
  openRegistry,
  progressEvents,
  type Call,
} from './support/use.ts';

/** A process that is not waited for: what does not listen is killed at once. */
const impatient =
  (command: McpCommand): McpSource =>
  () =>
    new ChildTransport(command, 1);

const pidOf = async (call: Call): Promise<number> => {
  const { value } = await call('facts');
  return (value as { pid: number }).pid;
};

describe('starting', () => {
  test('the command gets its folder and its variables, and few others', async () => {
    const cwd = freshFolder();
    process.env['CELESTEA_SECRET'] = 'x';
    const { call } = await openRegistry({ ...byHand(), cwd, env: { TOKEN: 't' } });
    delete process.env['CELESTEA_SECRET'];
    const { value } = await call('facts');
    expect(value).toMatchObject({ cwd, env: { TOKEN: 't', PATH: process.env['PATH'] } });
    expect(value).not.toHaveProperty('env.CELESTEA_SECRET');
  });

  const dies = "console.error('x'.repeat(5000)); console.error('no key'); process.exit(7)";
  test.each([
    [
      'that is not there',
      { command: 'no-such-command-here', args: ['--x'] },
      /^MCP server no-such-command-here --x: could not be started: .*ENOENT/,
    ],
    [
      'that ends at once',
      { command: process.execPath, args: ['-e', dies] },
      /started: exited with code 7; its stderr ends with: x{990,1000}\nno key$/,
    ],
    ['that answers nonsense', byHand('no-init'), /could not be started: /],
  ])('a server %s fails the start', async (_, source, text) => {
    expect(await failure(open(source))).toMatch(text);
  });

  test.each(['silent', 'deaf'])('one that is %s is given up, and is gone then', async (way) => {
    const source = impatient(byHand(way));
    let text = '';
    // On a slow machine it is given up before it said a word.
    for (let ms = 100; !text.includes('Usage'); ms *= 2) {
      text = await failure(open(source, { startTimeoutMs: ms }));
      expect(text).toContain(`could not be started: no answer within ${String(ms)} ms`);
    }
    expect(text).toMatch(/its stderr ends with: cannot find my config/);
    expect(text).toMatch(/its stdout has what is no message: Usage: serve \[options\]$/);
  });

  test('the name that a server gives itself is made fit for one line', async () => {
    expect((await open(byHand('answer'))).serverName).toBe('a rude server');
  });
});

describe('dying', () => {
  test('calls in flight fail with how it ended', async () => {
    const { onProgress, next } = progressEvents();
    const { call } = await openRegistry(byHand(), { onProgress });
    const waiting = [call('wait'), call('wait')];
    await Promise.all([next(), next()]);
    const outputs = await Promise.all([...waiting, call('die')]);
    for (const { error } of outputs) {
      expect(error).toBe(
        'MCP server a rude server: exited with code 3; its stderr ends with: out of luck',
      );
    }
  });

  test('the next call starts it again, once; calls beside it share the start', async () => {
    const { call } = await openRegistry(byHand());
    const first = await pidOf(call);
    await call('die');
    const outputs = await Promise.all(['a', 'b', 'c'].map((text) => call('echo', { text })));
    expect(outputs.map(({ value }) => value)).toEqual(['a', 'b', 'c']);
    expect(await pidOf(call)).not.toBe(first);
    await call('die');
    const stays =
      /^MCP server a rude server: exited with code 3; .*; no more restarts are tried \(1 in all\)$/;
    expect((await call('echo')).error).toMatch(stays);
    expect((await call('echo')).error).toMatch(stays);
  });

  test('restarts says how often: never, or more than once', async () => {
    const never = await openRegistry(byHand(), { restarts: 0 });
    await never.call('die');
    expect((await never.call('echo')).error).toMatch(/exited with code 3/);
    const { call } = await openRegistry(byHand(), { restarts: 2 });
    for (const text of ['a', 'b']) {
      await call('die');
      expect((await call('echo', { text })).value).toBe(text);
    }
  });

  test('a restart counts for as long as the window', async () => {
    const options = { restarts: 1, restartWindowMs: 600_000 };
    const { call } = await openRegistry(byHand(), options);
    await call('die');
    expect((await call('echo', { text: 'a' })).value).toBe('a');
    await call('die');
    expect((await call('echo')).error).toMatch(
      /^MCP server a rude server: exited .*; no more restarts are tried for \d+ s \(1 within 600 s\)$/,
    );
  });

  test('a kill is noticed without a call, and what it started goes with it', async () => {
    const { call } = await openRegistry(impatient(byHand()));
    const pid = await pidOf(call);
    const child = (await call('offspring', { deaf: true })).value as { pid: number };
    process.kill(pid, 'SIGKILL');
    await gone(child.pid);
    expect((await call('echo', { text: 'new' })).value).toBe('new');
    expect(runs(pid)).toBe(false);
  });

  test('after a restart the list is the new server’s', async () => {
    const { mcp, call } = await openRegistry(byHand());
    const changed = nextChange(mcp);
    await call('change', { add: 'extra' });
    await changed;
    await call('die');
    const restarted = nextChange(mcp);
    expect((await call('extra')).error).toMatch(/"extra" is gone/);
    expect((await restarted).removed).toEqual(['extra']);
  });

  test('a restart that fails is the last, and says why', async () => {
    const folder = freshFolder();
    const code = `
      import { existsSync, writeFileSync } from 'node:fs';
      if (existsSync('started')) { console.error('second time'); process.exit(9); }
      writeFileSync('started', '');
      process.argv[1] = ${JSON.stringify(byHand().args[0])};
      await import(process.argv[1]);`;
    const args = ['--input-type=module', '-e', code];
    const { call } = await openRegistry({ command: process.execPath, args, cwd: folder });
    await call('die');
    const failed = /could not be started: exited with code 9; its stderr ends with: second time/;
    expect((await call('echo')).error).toMatch(failed);
    expect((await call('echo')).error).toMatch(failed);
  });

  test('a message that is too large ends the server, not the program', async () => {
    const { call } = await openRegistry(byHand('huge'), { restarts: 0 });
    expect((await call('a')).error).toMatch(/sent a message of more than 33554432 bytes/);
  });
});

describe('closing', () => {
  test('ends the process and what it started, and fails calls in flight', async () => {
    const { onProgress, next } = progressEvents();
    const { mcp, call } = await openRegistry(byHand(), { onProgress });
    const pid = await pidOf(call);
    const { value } = await call('offspring', { deaf: false });
    const child = (value as { pid: number }).pid;
    expect([runs(pid), runs(child)]).toEqual([true, true]);
    const waiting = call('wait');
    await next();
    const closing = mcp.close();
    expect((await waiting).error).toBe('MCP server a rude server: it was closed');
    await closing;
    await mcp.close();
    expect(runs(pid)).toBe(false);
    await gone(child); // whoever inherits it lets go of it by and by
    expect((await call('echo')).error).toBe('MCP server a rude server: it was closed');
  });

  test('kills what does not listen', async () => {
    const { mcp, call } = await openRegistry(impatient(byHand()));
    const child = (await call('offspring', { deaf: true })).value as { pid: number };
    await mcp.close();
    await gone(child.pid);
  });

  test('during a restart ends it too', async () => {
    const { mcp, call } = await openRegistry(byHand());
    await call('die');
    const waiting = call('echo');
    await mcp.close();
    expect((await waiting).error).toMatch(/it was closed/);
  });

  test('a cancelled call does not wait for a restart', async () => {
    const { call } = await openRegistry(byHand());
    await call('die');
    const controller = new AbortController();
    const waiting = call('echo', {}, controller.signal);
    await Promise.resolve();
    controller.abort(new Error('enough'));
    expect((await waiting).error).toBeTruthy();
    expect((await call('echo', { text: 'up' })).value).toBe('up');
  });

  test('leaves no listener on the process, however many servers there were', async () => {
    const before = process.listenerCount('exit');
    const many = await Promise.all(Array.from({ length: 3 }, () => mcpTools(byHand())));
    expect(process.listenerCount('exit')).toBe(before + 1);
    await Promise.all(many.map((each) => each.close()));
    expect(process.listenerCount('exit')).toBe(before);
  });
});
