import { connect, Socket } from 'node:net';

import { expect, onTestFinished, test } from 'vitest';

import { BEARER, withHost, withServer, type TestHost } from './http-support.ts';
import { othersTurn } from './sessions-support.ts';

/** How many streams are open. */
async function readersOf(host: TestHost): Promise<number> {
  const response = await host.raw('GET', '/metrics', { headers: BEARER });
  return Number(/^celestea_stream_readers (\d+)$/m.exec(await response.text())?.[1]);
}

/** Waits for so many streams; not beyond the end of the test. */
async function untilReaders(host: TestHost, count: number): Promise<void> {
  const current = { isOver: false };
  onTestFinished(() => {
    current.isOver = true;
  });
  while (!current.isOver && (await readersOf(host)) !== count) await othersTurn();
}

test('streams that wait behind another on their socket are let go of with it', async () => {
  const limits = { requestsPerMinute: 1_000_000 };
  await withServer({ limits }, async ({ address }, host) => {
    const id = await host.session();
    const head = `Host: localhost:${String(address.port)}\r\nAuthorization: ${BEARER.authorization}`;
    const socket = connect(address.port, '127.0.0.1');
    socket.write(`GET /api/sessions/${id}/events HTTP/1.1\r\n${head}\r\n\r\n`.repeat(33));
    await untilReaders(host, 32);
    socket.destroy();
    await untilReaders(host, 0);
    const reader = await host.events(id);
    expect(await readersOf(host)).toBe(1);
    await reader.close();
  });
});

test('a stream that is asked for by a socket that has closed meanwhile ends at once', async () => {
  await withHost({}, async (host) => {
    const path = `/api/sessions/${await host.session()}/events`;
    const init = { headers: { ...BEARER, host: 'localhost' } };
    const env = { incoming: { socket: new Socket().destroy() } };
    const response = await host.host.app.request(path, init, env);
    expect([response.status, await response.text()]).toEqual([200, '']);
    expect(await readersOf(host)).toBe(0);
  });
});

test('a socket holds no listener of streams that are over', async () => {
  await withHost({}, async (host) => {
    const path = `/api/sessions/${await host.session()}/events`;
    const init = { headers: { ...BEARER, host: 'localhost' } };
    const socket = new Socket();
    const listening = socket.listenerCount('close');
    for (let asked = 0; asked < 20; asked += 1) {
      const response = await host.host.app.request(path, init, { incoming: { socket } });
      await response.body?.cancel();
    }
    expect(socket.listenerCount('close')).toBe(listening);
    socket.destroy();
  });
});
