import { createServer, type AddressInfo } from 'node:net';

import { describe, expect, test } from 'vitest';

import { runCli } from '../src/index.ts';
import { Celestea } from './support/child.ts';
import { freshFolder } from './support/folder.ts';
import { fakeIo } from './support/io.ts';
import { onlySession, rowsIn } from './support/session.ts';
import { HostClient, ServingProcess } from './support/served.ts';

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

  test('SIGTERM in a turn writes its end', async () => {
    const folder = freshFolder({ 'README.md': '# Tea\n' });
    const serving = new ServingProcess(folder, ['--offline', FOR_EVER]);
    const client = await serving.client();
    const ended: ReturnType<ServingProcess['interrupt']>[] = [];
    const events = await client.turn(await client.session(), 'what is here?', ({ event }) => {
      const isSaying = event === 'text' || event === 'thinking';
      if (isSaying && ended.length === 0) ended.push(serving.interrupt('SIGTERM'));
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
});
