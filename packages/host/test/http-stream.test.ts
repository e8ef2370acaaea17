import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';

import { callTools, FakeToolRegistry, Gate, say, think } from '@celestea/agent-loop/testing';
import { sessionLogHolder } from '@celestea/session';
import { describe, expect, test, vi } from 'vitest';

import { Rings } from '../src/http/rings.ts';
import { serveHost, type Host } from '../src/index.ts';
import {
  BEARER,
  checkHead,
  errorOf,
  EventReader,
  JSON_TYPE,
  withHost,
  withServer,
  type Event,
  type TestHost,
} from './http-support.ts';

/** As they are before any test has served a host. */
const { Request: OwnRequest, Response: OwnResponse } = globalThis;

const call = { id: 'call-1', name: 'work', args: {} };

/** A turn that waits in a tool until the gate opens, then says a lot. */
function gated(): { gate: Gate; options: Parameters<typeof withHost>[0] } {
  const gate = new Gate();
  const words = Array.from({ length: 50 }, (_, index) => ({
    kind: 'text' as const,
    text: `word ${String(index)} `,
  }));
  const scripts = [[think('Hm.'), ...callTools(call)], [...words, ...say('Done.')]];
  const tools = (): FakeToolRegistry => new FakeToolRegistry({ work: () => gate.wait() });
  return { gate, options: { scripts, tools } };
}

async function open(url: string, id: string, headers: Record<string, string> = {}) {
  const init = { headers: { ...BEARER, ...headers } };
  return new EventReader(await fetch(`${url}/api/sessions/${id}/events`, init));
}

const startTurn = async (url: string, id: string): Promise<string> => {
  const init = { method: 'POST', headers: { ...BEARER, ...JSON_TYPE }, body: '{"input":"hello"}' };
  const response = await fetch(`${url}/api/sessions/${id}/turns`, init);
  return ((await response.json()) as { turn: string }).turn;
};

/** What a reader saw until then; what came in the same chunk after that is lost with it. */
const upTo = ({ seen }: EventReader, fits: (event: Event) => boolean): Event[] =>
  seen.slice(0, seen.findIndex(fits) + 1);

const ids = (events: readonly Event[]): number[] => events.map(({ id }) => id);

describe('events over a socket', () => {
  test('a turn is told to its end, and a reader that comes back misses and repeats nothing', async () => {
    const { gate, options } = gated();
    await withServer(options, async ({ url }, host) => {
      const id = await host.session();
      const first = await open(url, id);
      const turn = await startTurn(url, id);
      await first.until(({ name }) => name === 'tool');
      await first.close();
      const seen = upTo(first, ({ name }) => name === 'tool');

      gate.open();
      const last = String(seen.at(-1)?.id);
      const second = await open(url, id, { 'last-event-id': last });
      const isMiddle = ({ payload }: Event): boolean => payload['delta'] === 'word 20 ';
      await second.until(isMiddle);
      await second.close();
      seen.push(...upTo(second, isMiddle));

      const third = await open(url, id, { 'last-event-id': String(seen.at(-1)?.id) });
      await third.untilEnd(turn);
      await third.close();
      seen.push(...third.seen);

      expect(ids(seen)).toEqual(seen.map((_, index) => host.before(id) + 1 + index));
      const text = seen.filter(({ name }) => name === 'text').map(({ payload }) => payload['delta']);
      expect(text.length).toBe(51);
      const end = seen.find(({ name }) => name === 'turn_end');
      expect(end).toMatchObject({ turn, payload: { outcome: 'completed' } });
    });
  });

  test('whoever leaves cancels nothing', async () => {
    const { gate, options } = gated();
    await withServer(options, async ({ url }, host) => {
      const id = await host.session();
      const reader = await open(url, id);
      const turn = await startTurn(url, id);
      await reader.until(({ name }) => name === 'tool');
      await reader.close();
      gate.open();
      const watcher = await host.events(id);
      const events = await watcher.untilEnd(turn);
      await watcher.close();
      expect(events.at(-1)?.payload['phase']).toBe('completed');
    });
  });

  test('whoever leaves makes room for another', async () => {
    await withServer({ limits: { streams: 1 } }, async ({ url }, host) => {
      const id = await host.session();
      const reader = await open(url, id);
      await reader.close();
      const path = `${url}/api/sessions/${id}/events`;
      let response = await fetch(path, { headers: BEARER });
      while (response.status === 429) {
        await response.text(); // the server hears of the leaving in its own time
        response = await fetch(path, { headers: BEARER });
      }
      expect(response.status).toBe(200);
      await new EventReader(response).close();
    });
  });
});

describe('events', () => {
  test('a stream is neither kept nor held back, and begins at once', async () => {
    await withHost({}, async (host) => {
      const id = await host.session();
      const response = await host.raw('GET', `/api/sessions/${id}/events`, { headers: BEARER });
      checkHead(response, '');
      expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
      expect(response.headers.get('x-accel-buffering')).toBe('no');
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      const { value } = await reader.read();
      expect(new TextDecoder().decode(value)).toBe('retry: 1000\n\n');
      await reader.cancel();
    });
  });

  test('a quiet stream gives a sign of life', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await withHost({ heartbeatMs: 7000 }, async (host) => {
      const id = await host.session();
      const response = await host.raw('GET', `/api/sessions/${id}/events`, { headers: BEARER });
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      await reader.read();
      const beat = reader.read();
      await vi.advanceTimersByTimeAsync(7000);
      expect(new TextDecoder().decode((await beat).value)).toBe(': \n\n');
      const next = reader.read();
      await reader.cancel();
      await next;
      expect(vi.getTimerCount()).toBe(0);
    });
  });

  const begin = async (host: TestHost, id: string, query: string, header?: string) => {
    const headers = { ...BEARER, ...(header === undefined ? {} : { 'last-event-id': header }) };
    const path = `/api/sessions/${id}/events${query}`;
    const reader = new EventReader(await host.raw('GET', path, { headers }));
    await reader.more();
    const turn = await host.turn(id);
    const events = await reader.untilEnd(turn);
    await reader.close();
    return events[0]?.id;
  };

  test('the header says where to go on, else the query, else nothing is repeated', async () => {
    await withHost({ scripts: [1, 2, 3, 4, 5].map(() => say('Hi.')) }, async (host) => {
      const id = await host.session();
      const turn = (await host.wholeTurn(id)).length;
      const first = host.before(id) + 1;
      const query = `?lastEventId=${String(first + 2)}`;
      expect(await begin(host, id, query)).toBe(first + 3);
      expect(await begin(host, id, query, String(first + 3))).toBe(first + 4);
      expect(await begin(host, id, '')).toBe(first + 3 * turn);
      expect(await begin(host, id, query, '')).toBe(first + 3);
    });
  });

  test.each([
    ['header', '', { 'last-event-id': '-1' }],
    ['query', '?lastEventId=-1', {}],
    ['query beside an empty header', '?lastEventId=-1', { 'last-event-id': '' }],
  ])('−1 in the %s begins with the first event that is kept', async (_, query, headers) => {
    await withHost({ scripts: [say('Hi.')], ring: { maxEvents: 3 } }, async (host) => {
      const id = await host.session();
      const all = await host.wholeTurn(id);
      const init = { headers: { ...BEARER, ...headers } };
      const path = `/api/sessions/${id}/events${query}`;
      const reader = new EventReader(await host.raw('GET', path, init));
      await reader.until(({ id: seq }) => seq === all.at(-1)?.id);
      await reader.close();
      expect(ids(reader.seen)).toEqual(ids(all.slice(-3)));
    });
  });

  test.each(['x', '-2', '1.5', '1e3', '0x1', '1, 2', '+1', '−1', '9007199254740992'])(
    'a place that is no whole number (%s) is refused, in the header as in the query',
    async (place) => {
      await withHost({}, async (host) => {
        const path = `/api/sessions/${await host.session()}/events`;
        const isText = /^[\x20-\x7e]+$/.test(place); // all that a header can hold
        const inHeader = isText ? await host.get(path, { 'last-event-id': place }) : null;
        const inQuery = await host.get(`${path}?lastEventId=${encodeURIComponent(place)}`);
        for (const reply of [inHeader ?? inQuery, inQuery]) {
          expect([reply.status, errorOf(reply)['code']]).toEqual([400, 'invalid']);
        }
        if (inHeader !== null) expect(errorOf(inHeader)['message']).toContain('Last-Event-ID');
      });
    },
  );

  test('a reader that missed too much is told what the session is doing', async () => {
    const { gate, options } = gated();
    await withHost({ ...options, ring: { maxEvents: 2 } }, async (host) => {
      const id = await host.session();
      const watcher = await host.events(id);
      const turn = await host.turn(id);
      await watcher.until(({ name }) => name === 'tool');
      const late = await host.events(id, 0);
      const { payload } = await late.until(({ name }) => name === 'status');
      const snapshot = { running: { turn }, approvals: [] };
      expect(payload).toMatchObject({ phase: 'lagged', snapshot });
      gate.open();
      await watcher.close();
      await late.close();
    });
  });

  test('rings nobody needs are dropped, the ones last used stay', () => {
    const open = new Set(['open']);
    const rings = new Rings({}, (id) => open.has(id), 2);
    const kept = rings.of('open');
    const release = rings.hold('read');
    const read = rings.of('read');
    const a = rings.of('a');
    const b = rings.of('b');
    expect(rings.of('b')).toBe(b);
    expect(rings.of('a')).not.toBe(a);
    expect([rings.of('open'), rings.of('read')]).toEqual([kept, read]);
    release();
    for (const id of ['c', 'd', 'e']) rings.of(id);
    expect(rings.of('open')).toBe(kept);
    expect(rings.of('read')).not.toBe(read);
  });

  test('a ring that is made anew goes on beyond all that the former one gave', () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000 });
    const rings = new Rings({}, () => false, 1);
    const former = rings.of('a');
    for (let count = 0; count < 900; count += 1) {
      former.append({ name: 'status', turn: null, payload: { phase: 'a' } });
    }
    rings.of('b');
    vi.setSystemTime(1_001);
    const anew = rings.of('a');
    expect(anew).not.toBe(former);
    expect(anew.holdsAfter(former.lastSeq)).toBe(false);
    expect(rings.lastSeq('a')).toBe(1_001_000 - 1);
  });
});

describe('the server', () => {
  test('closing ends turns and streams, lets go of the port and of the sessions', async () => {
    const { options } = gated();
    await withServer(options, async (server, host) => {
      const id = await host.session();
      const reader = await open(server.url, id);
      const turn = await startTurn(server.url, id);
      await reader.until(({ name }) => name === 'tool');
      const path = join(host.folder, `${id}.jsonl`);
      expect(sessionLogHolder(path).held).toBe(true);

      const closed = server.close();
      const events = await reader.untilEnd(turn);
      expect(events.at(-1)?.payload).toMatchObject({ phase: 'cancelled' });
      while (await reader.more());
      await closed;
      expect(server.close()).toBe(server.close());
      expect(sessionLogHolder(path).held).toBe(false);
      await expect(fetch(`${server.url}/api/healthz`)).rejects.toThrow();
      const again = await serveHost(host.host, { port: server.address.port, closeMs: 0 });
      await again.close();
    });
  });

  test('who sends half a request, or reads nothing, keeps no server from closing', async () => {
    await withServer({}, async (server, host) => {
      const id = await host.session();
      const at = `localhost:${String(server.address.port)}`;
      const head = `Host: ${at}\r\nAuthorization: ${BEARER.authorization}\r\n`;
      const sockets = [
        `POST /api/sessions HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
        `GET /api/sessions HTTP/1.1\r\nHost: loc`,
        `GET /api/sessions/${id}/events HTTP/1.1\r\n${head}\r\n`,
      ].map((text) => {
        const socket = connect(server.address.port, '127.0.0.1').on('error', () => undefined);
        socket.write(text);
        return socket;
      });
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
      const ended = sockets.map(
        (socket) => new Promise((resolve) => socket.resume().on('close', resolve)),
      );
      await server.close();
      await Promise.all(ended);
    });
  });

  test('serving changes nothing for the rest of the process', async () => {
    await withServer({}, () => {
      expect(globalThis.Request).toBe(OwnRequest);
      expect(globalThis.Response).toBe(OwnResponse);
      return Promise.resolve();
    });
  });

  test('a port that is taken is a rejection', async () => {
    await withServer({}, async ({ address }, host) => {
      const taken = serveHost(host.host, { port: address.port });
      await expect(taken).rejects.toMatchObject({ code: 'EADDRINUSE' });
    });
  });

  test.each<[string, object]>([
    ['hostname', { hostname: '0.0.0.0' }],
    ['hostname', { hostname: '::' }],
    ['hostname', { hostname: 'agent.example' }],
    ['hostname', { hostname: '127.evil.example' }],
    ['hostname', { hostname: '' }],
    ['port', { port: 65_536 }],
    ['port', { port: '80' }],
    ['allowRemote', { hostname: '0.0.0.0', allowRemote: 'yes' }],
    ['closeMs', { closeMs: -1 }],
  ])('a wrong %s is a TypeError, and nothing listens (%j)', async (name, options) => {
    await withHost({}, async ({ host }) => {
      const served = serveHost(host, options);
      await expect(served).rejects.toThrow(TypeError);
      await expect(served).rejects.toThrow(`options.${name}: expected`);
    });
  });

  test('what is no host is a TypeError', async () => {
    await expect(serveHost({} as Host)).rejects.toThrow('host: expected a Host of createHost');
  });

  test('a name of another site is refused over a socket, too', async () => {
    await withServer({}, async ({ address }) => {
      const socket = connect(address.port, '127.0.0.1');
      const head = `Host: evil.example\r\nAuthorization: ${BEARER.authorization}\r\n`;
      socket.write(`GET /api/sessions HTTP/1.1\r\n${head}Connection: close\r\n\r\n`);
      let text = '';
      for await (const chunk of socket) text += String(chunk);
      expect(text).toMatch(/^HTTP\/1\.1 403 /);
    });
  });
});
