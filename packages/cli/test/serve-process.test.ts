import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { runCli } from '../src/index.ts';
import { Celestea, celestea } from './support/child.ts';
import { freshFolder } from './support/folder.ts';
import { fakeIo } from './support/io.ts';
import { call, modelServer, words } from './support/model-server.ts';
import { onlySession, rowsIn, sessionNames } from './support/session.ts';
import { HostClient, serve, ServingProcess } from './support/served.ts';

// How long a process takes to start depends on the machine; these tests wait for what it does.
const PATIENCE = { timeout: 240_000 };
/** So long that the turn still runs whenever its first words are read. */
const FOR_EVER = '--model-delay=2147483647';

/** A port that was free just now. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}

/** What `celestea check` says of the one session of a folder. */
async function checked(cwd: string): Promise<string> {
  const io = fakeIo({ cwd });
  await runCli(['check', onlySession(cwd)], io);
  return io.stdout.text;
}

describe('a process that serves', PATIENCE, () => {
  test('answers over HTTP, and SIGINT ends it with code 0 and its sessions in order', async () => {
    const folder = freshFolder({ 'README.md': '# Tea\n' });
    const serving = new ServingProcess(folder, ['--offline']);
    const client = await serving.client();
    expect((await client.get('/api/sessions')).body['sessions']).toEqual([]);
    expect((await client.get('/api/sessions', 'another-token-of-nobody')).status).toBe(401);
    const id = await client.session();
    const events = await client.turn(id, 'how many lines has README.md?');
    expect(events.map(({ event }) => event)).toContain('tool_result');
    expect(events.at(-1)?.payload).toMatchObject({ phase: 'completed' });
    const { code, stdout, stderr } = await serving.interrupt();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split(client.token)).toHaveLength(2);
    expect(stdout).toMatch(/\nctrl-c ends it\n$/);
    expect(await checked(folder)).toMatch(/\nin order\n$/);
  });

  test('lets a call of a real model run once it is allowed', async () => {
    const answers = [call('a', 'write_file', { path: 'tea.md', content: 'tea\n' }), words('Done.')];
    const { url } = await modelServer(...answers);
    const folder = freshFolder();
    const serving = new ServingProcess(folder, ['--base-url', url, '--model=tea']);
    const client = await serving.client();
    expect(serving.command.stdout).toMatch(/^model +local:tea$/m);
    const id = await client.session();
    const events = await client.turn(id, 'write it down', async ({ event, payload }) => {
      if (event !== 'question') return;
      const path = `/api/sessions/${id}/approvals/${String(payload['id'])}`;
      expect((await client.post(path, { decision: 'allow' })).status).toBe(200);
    });
    expect(events.map(({ event }) => event)).toContain('question');
    expect(events.at(-1)?.payload).toMatchObject({ phase: 'completed', steps: 2 });
    const { code, stderr } = await serving.interrupt();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(rowsIn(onlySession(folder))).toContainEqual(
      expect.objectContaining({ type: 'tool_result', id: 'a', error: null }),
    );
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('%s in a turn writes its end', async (signal) => {
    const folder = freshFolder({ 'README.md': '# Tea\n' });
    const serving = new ServingProcess(folder, ['--offline', FOR_EVER]);
    const client = await serving.client();
    const ended: ReturnType<ServingProcess['interrupt']>[] = [];
    const events = await client.turn(await client.session(), 'what is here?', ({ event }) => {
      const isSaying = event === 'text' || event === 'thinking';
      if (isSaying && ended.length === 0) ended.push(serving.interrupt(signal));
    });
    expect(events.at(-1)?.payload).toMatchObject({ phase: 'cancelled' });
    expect(await Promise.all(ended)).toMatchObject([{ code: 0, stderr: '' }]);
    expect(rowsIn(onlySession(folder)).at(-1)).toMatchObject({ outcome: 'cancelled' });
    expect(await checked(folder)).toMatch(/\nin order\n$/);
  });

  test('serves on when nobody reads its output, not even where it is', async () => {
    const [port, token] = [await freePort(), 'a-token-that-nobody-guesses'];
    const env = { CELESTEA_TOKEN: token };
    const args = ['serve', '--offline', `--port=${String(port)}`];
    const command = new Celestea(freshFolder(), args, env);
    command.child.stdout.destroy();
    const client = new HostClient(`address http://127.0.0.1:${String(port)}/?token=${token}`);
    const process = { isOver: false };
    void command.ended.finally(() => {
      process.isOver = true;
    });
    while (!process.isOver && !(await client.answers())) await new Promise((done) => setTimeout(done, 10));
    const events = await client.turn(await client.session(), 'hello');
    expect(events.at(-1)?.payload).toMatchObject({ phase: 'completed' });
    command.child.kill('SIGINT');
    expect(await command.ended).toMatchObject({ code: 0, stderr: '' });
  });

  test('has the token of its file when it starts again', async () => {
    const folder = freshFolder();
    const tokens: string[] = [];
    for (let start = 0; start < 2; start += 1) {
      const serving = new ServingProcess(folder, ['--offline', '--token-file=.celestea/token']);
      const client = await serving.client();
      expect((await client.get('/api/sessions')).status).toBe(200);
      tokens.push(client.token);
      await serving.interrupt();
    }
    expect(tokens[1]).toBe(tokens[0]);
  });
});

describe('a session that somebody else has open', PATIENCE, () => {
  test('is listed by the host, and a turn in it is refused while the terminal has it', async () => {
    const folder = freshFolder();
    const terminal = new Celestea(folder, ['--offline', FOR_EVER, 'what is here?']);
    await terminal.printed('\n\nThe');
    const served = await serve(folder, ['--offline']);
    const { body } = await served.get('/api/sessions');
    expect(body['sessions']).toMatchObject([{ title: 'what is here?' }]);
    const [name = ''] = sessionNames(folder).filter((one) => one.endsWith('.jsonl'));
    const id = name.replace('.jsonl', '');
    const refused = await served.post(`/api/sessions/${id}/turns`, { text: 'hello' });
    expect(refused.status).toBe(409);
    expect(refused.body['error']).toMatchObject({
      code: 'busy',
      message: expect.stringContaining(
        `is in use by process ${String(terminal.child.pid)}`,
      ) as unknown,
    });
    terminal.child.kill('SIGINT');
    expect((await terminal.ended).code).toBe(130);
    const events = await served.turn(id, 'hello');
    expect(events.at(-1)?.payload).toMatchObject({ phase: 'completed' });
  });

  test('is refused by the terminal while the host has it', async () => {
    const folder = freshFolder();
    const serving = new ServingProcess(folder, ['--offline']);
    const client = await serving.client();
    const id = await client.session();
    await client.turn(id, 'hello');
    const file = join('.celestea/sessions', `${id}.jsonl`);
    const { code, stderr } = await celestea(folder, ['--offline', '--session', file, 'hello']);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(`^celestea: .* is in use by process ${String(serving.command.child.pid)} .*\n$`),
    );
    expect((await serving.interrupt()).code).toBe(0);
  });
});
