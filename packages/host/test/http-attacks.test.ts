import { readdirSync } from 'node:fs';
import { request } from 'node:http';

import { say } from '@celestea/agent-loop/testing';
import { describe, expect, test, vi } from 'vitest';

import {
  BEARER,
  errorOf,
  JSON_TYPE,
  TOKEN,
  withHost,
  withServer,
  type Reply,
} from './http-support.ts';

describe('other sites', () => {
  test.each([
    'evil.example',
    'evil.example:80',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'localhost@evil.example',
    '127.0.0.2',
    '0.0.0.0',
    '',
  ])('a page whose name "%s" leads here is refused', async (host) => {
    await withHost({}, async (own) => {
      for (const path of ['/', '/api/sessions', '/api/healthz']) {
        const reply = await own.ask('GET', path, { headers: { ...BEARER, host } });
        expect(reply.status).toBe(403);
      }
    });
  });

  test.each(['localhost', '127.0.0.1:8080', '[::1]:80', 'LOCALHOST:1', 'agent.example:8443'])(
    'the host answers to %s',
    async (host) => {
      await withHost({ allowedHosts: ['Agent.example'] }, async (own) => {
        expect((await own.get('/api/sessions', { host })).status).toBe(200);
      });
    },
  );

  test('one that listens answers to loopback names with its port alone', async () => {
    await withServer({}, async ({ address }, host) => {
      const at = (port: number): Promise<Reply> =>
        host.get('/api/sessions', { host: `localhost:${String(port)}` });
      expect((await at(address.port)).status).toBe(200);
      expect((await at(address.port === 1 ? 2 : 1)).status).toBe(403);
    });
  });

  test.each<[string, Record<string, string>]>([
    ['an Origin of another site', { origin: 'https://evil.example' }],
    ['an Origin of another port', { origin: 'http://localhost:3000' }],
    ['an Origin that is null', { origin: 'null' }],
    ['an Origin that begins like ours', { origin: 'http://localhost.evil.example' }],
    ['Sec-Fetch-Site: cross-site', { 'sec-fetch-site': 'cross-site' }],
    ['Sec-Fetch-Site: same-site', { 'sec-fetch-site': 'same-site' }],
  ])('%s changes nothing and reads nothing', async (_, headers) => {
    await withHost({}, async (host) => {
      expect((await host.post('/api/sessions', {}, headers)).status).toBe(403);
      expect((await host.get('/api/sessions', headers)).status).toBe(403);
      expect(readdirSync(host.folder)).toEqual([]);
    });
  });

  test('our own page may', async () => {
    await withHost({}, async (host) => {
      const own = { host: 'localhost:8080', origin: 'http://localhost:8080' };
      const headers = { ...own, 'sec-fetch-site': 'same-origin' };
      expect((await host.post('/api/sessions', {}, headers)).status).toBe(201);
    });
  });

  test('a preflight is told nothing that would let a page go on', async () => {
    await withHost({}, async (host) => {
      const asks = { 'access-control-request-method': 'POST', origin: 'https://evil.example' };
      const other = await host.ask('OPTIONS', '/api/sessions', { headers: asks });
      const known = await host.ask('OPTIONS', '/api/sessions', { headers: BEARER });
      expect([other.status, known.status]).toEqual([403, 405]);
      for (const { headers } of [other, known]) {
        expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
      }
    });
  });
});

describe('bodies', () => {
  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', '', 'json'])(
    'a post of the type "%s", as a form of any site can send it, is refused',
    async (type) => {
      await withHost({}, async (host) => {
        const headers = { ...BEARER, 'content-type': type };
        const reply = await host.ask('POST', '/api/sessions', { headers, body: '{}' });
        expect(reply.status).toBe(415);
        expect(readdirSync(host.folder)).toEqual([]);
      });
    },
  );

  test('JSON with a charset is taken, packed JSON is not', async () => {
    await withHost({}, async (host) => {
      const charset = { 'content-type': 'Application/JSON; charset=utf-8' };
      expect((await host.post('/api/sessions', {}, charset)).status).toBe(201);
      expect((await host.post('/api/sessions', {}, { 'content-encoding': 'gzip' })).status).toBe(415);
    });
  });

  const large = `{"input":"${'a'.repeat(2 ** 21)}"}`;

  test('2 MiB are refused by what their head says', async () => {
    await withServer({}, async ({ url }, host) => {
      const path = `${url}/api/sessions/${await host.session()}/turns`;
      const init = { method: 'POST', headers: { ...BEARER, ...JSON_TYPE }, body: large };
      expect((await fetch(path, init)).status).toBe(413);
    });
  });

  test.each([
    ['in chunks, whose length no head says, are read no further than the limit', null, 2 ** 20],
    ['of which the head says so are not read at all', String(2 ** 21), 0],
  ])('2 MiB %s', async (_, length, most) => {
    await withHost({}, async (host) => {
      let read = 0;
      const chunk = new TextEncoder().encode('a'.repeat(2 ** 16));
      const body = new ReadableStream<Uint8Array>(
        {
          pull: (controller) => {
            read += chunk.length;
            controller.enqueue(chunk);
          },
        },
        { highWaterMark: 0 },
      );
      const said = length === null ? {} : { 'content-length': length };
      const headers = { ...BEARER, ...JSON_TYPE, ...said };
      const init = { headers, body, duplex: 'half' } as const;
      const reply = await host.ask('POST', '/api/sessions/a/turns', init);
      expect([reply.status, errorOf(reply)['code']]).toEqual([413, 'too_large']);
      expect(read).toBeLessThanOrEqual(most + 2 * chunk.length * Math.sign(most));
    });
  });

  test('2 MiB in chunks are refused over a socket, too', async () => {
    await withServer({}, async ({ address }) => {
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const headers = { ...BEARER, ...JSON_TYPE, 'transfer-encoding': 'chunked' };
        const path = '/api/sessions/a/turns';
        const sent = request({ port: address.port, method: 'POST', path, headers }, (response) => {
          response.resume().on('end', () => {
            resolve(response.statusCode);
          });
        });
        sent.on('error', reject).end(large);
      });
      expect(status).toBe(413);
    });
  });

  test('what is made to change all objects changes none', async () => {
    await withHost({}, async (host) => {
      const path = `/api/sessions/${await host.session()}/turns`;
      const headers = { ...BEARER, ...JSON_TYPE };
      for (const name of ['__proto__', 'constructor', 'toString']) {
        const body = `{"input":"a","${name}":{"polluted":true,"isOpen":true}}`;
        expect((await host.ask('POST', path, { headers, body })).status).toBe(400);
      }
      const query = await host.get(`${path.replace('turns', 'messages')}?__proto__[polluted]=1`);
      expect(query.status).toBe(400);
      expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    });
  });

  test('a body of a million brackets is refused like any other', async () => {
    await withHost({}, async (host) => {
      const init = { headers: { ...BEARER, ...JSON_TYPE }, body: '['.repeat(1_000_000) };
      expect((await host.ask('POST', '/api/sessions', init)).status).toBe(400);
      const whole = { ...init, body: `${'['.repeat(400_000)}${']'.repeat(400_000)}` };
      expect((await host.ask('POST', '/api/sessions', whole)).status).toBe(400);
    });
  });
});

describe('ids', () => {
  test.each([
    '../../etc/passwd',
    '..%2f..%2fetc%2fpasswd',
    '%2e%2e%2fsecret',
    '%2e%2e',
    '..%5c..%5csecret',
    '%252e%252e%252fsecret',
    '.%00./secret',
    'a%00',
    '%E0%A4%A',
    'A-SESSION',
    '__proto__',
    'a'.repeat(65),
    'x%0d%0aSet-Cookie:%20a=b',
    '%0aevil',
  ])('the id %s is of nothing, and is told nowhere', async (id) => {
    await withHost({}, async (host) => {
      for (const end of ['', '/messages', '/events', '/context', '/approvals']) {
        const reply = await host.get(`/api/sessions/${id}${end}`);
        expect(reply.status).toBe(404);
        expect(reply.headers.get('set-cookie')).toBeNull();
        expect(JSON.stringify(reply.body)).not.toMatch(/passwd|secret|evil/);
      }
      for (const end of ['/turns', '/steer', '/cancel', '/fork', '/approvals/x']) {
        expect((await host.post(`/api/sessions/${id}${end}`, {})).status).toBe(404);
      }
      expect(readdirSync(host.folder)).toEqual([]);
    });
  });
});

describe('limits', () => {
  test('who asks too often waits as long as it is told, then is let in again', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    await withHost({ limits: { requestsPerMinute: 6 } }, async (host) => {
      for (let asked = 0; asked < 6; asked += 1) {
        expect((await host.get('/api/sessions')).status).toBe(200);
      }
      const refused = await host.get('/api/sessions');
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
      expect((await host.raw('GET', `/?token=${TOKEN}`)).status).toBe(429);
      expect((await host.ask('GET', '/api/healthz', {})).status).toBe(200);
      vi.advanceTimersByTime(10_000);
      expect((await host.get('/api/sessions')).status).toBe(200);
      expect((await host.get('/api/sessions')).status).toBe(429);
    });
  });

  test('who has no token uses up nothing', async () => {
    await withHost({ limits: { requestsPerMinute: 1 } }, async (host) => {
      for (let asked = 0; asked < 5; asked += 1) await host.ask('GET', '/api/sessions', {});
      expect((await host.get('/api/sessions')).status).toBe(200);
    });
  });

  test('who asks too often can still stop a turn and answer a question', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    await withHost({ limits: { requestsPerMinute: 2 } }, async (host) => {
      const id = await host.session();
      expect((await host.get('/api/sessions')).status).toBe(429);
      const [cancel, answer] = [`/api/sessions/${id}/cancel`, `/api/sessions/${id}/approvals/a`];
      for (let asked = 0; asked < 60; asked += 1) {
        expect((await host.post(cancel)).status).toBe(409);
        expect((await host.post(answer, { decision: 'deny' })).status).toBe(410);
      }
      for (const path of [cancel, answer]) {
        const refused = await host.post(path, { decision: 'deny' });
        expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
      }
      expect((await host.post(`/api/sessions/${id}/steer`, { input: 'a' })).status).toBe(429);
      expect((await host.get(answer)).status).toBe(429);
      vi.advanceTimersByTime(500);
      expect((await host.post(cancel)).status).toBe(409);
      expect((await host.post(cancel)).status).toBe(429);
    });
  });

  test('stopping turns and answering questions uses up nothing of the rest', async () => {
    await withHost({ limits: { requestsPerMinute: 3 } }, async (host) => {
      const id = await host.session();
      for (let asked = 0; asked < 5; asked += 1) await host.post(`/api/sessions/${id}/cancel`);
      expect((await host.get('/api/sessions')).status).toBe(200);
    });
  });

  test('one stream too many is refused, and let in when another has left', async () => {
    await withHost({ scripts: [say('Hi.')], limits: { streams: 2 } }, async (host) => {
      const id = await host.session();
      const first = await host.events(id);
      const second = await host.events(id);
      const third = await host.get(`/api/sessions/${id}/events`);
      expect([third.status, third.headers.get('retry-after')]).toEqual([429, '5']);
      const head = await host.raw('HEAD', `/api/sessions/${id}/events`, { headers: BEARER });
      expect(head.status).toBe(200);
      await first.close();
      const fourth = await host.events(id);
      await fourth.close();
      await second.close();
    });
  });
});
