import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import {
  callTools,
  done,
  FakeToolRegistry,
  Gate,
  HangingLlm,
  say,
  think,
} from '@celestea/agent-loop/testing';
import { askBefore, DefaultToolRegistry, defineTool } from '@celestea/tools';
import { describe, expect, test, vi } from 'vitest';

import { createHost, type HostOptions } from '../src/index.ts';
import { errorOf, TOKEN, withHost, type Reply } from './http-support.ts';
import { partsOf } from './sessions-support.ts';

const call = { id: 'call-1', name: 'work', args: { of: 2 } };

describe('sessions', () => {
  test('a new session is made, listed and told of', async () => {
    await withHost({ scripts: [say('Hi.')] }, async (host) => {
      const made = await host.post('/api/sessions');
      const session = made.body['session'] as Record<string, unknown>;
      const id = String(session['id']);
      expect(made.status).toBe(201);
      expect(made.headers.get('location')).toBe(`/api/sessions/${id}`);
      expect(session).toMatchObject({ title: '', bytes: 0, turns: 0 });

      await host.wholeTurn(id, 'good morning');
      const { body: list } = await host.get('/api/sessions');
      expect(list['sessions']).toMatchObject([{ id, title: 'good morning', turns: 1 }]);
      const { body: state } = await host.get(`/api/sessions/${id}`);
      expect(state).toMatchObject({ session: { id }, running: null, approvals: [] });
      expect(state['last_event_id']).toBeGreaterThan(3);
    });
  });

  test('rows read like a conversation, page by page', async () => {
    const scripts = [
      [think('Hm.'), ...callTools(call)],
      [done('', { ...call, id: 'call-2', name: 'none' })],
      say('Done.'),
    ];
    const tools = (): FakeToolRegistry => new FakeToolRegistry({ work: () => 4 });
    await withHost({ scripts, tools }, async (host) => {
      const id = await host.session();
      await host.wholeTurn(id, 'double it');
      const { body } = await host.get(`/api/sessions/${id}/messages`);
      const messages = body['messages'] as Record<string, unknown>[];
      expect(messages).toMatchObject([
        { kind: 'user', turn: 'turn-0', text: 'double it' },
        { kind: 'thinking', text: 'Hm.' },
        { kind: 'tool_call', id: 'call-1', name: 'work', args: { of: 2 } },
        { kind: 'tool_result', id: 'call-1', ok: true, value: 4, error: null },
        { kind: 'tool_call', id: 'call-2' },
        { kind: 'tool_result', id: 'call-2', ok: false, error: 'unknown tool none' },
        { kind: 'assistant', text: 'Done.' },
        { kind: 'turn_end', turn: 'turn-0', outcome: 'completed', error: null },
      ]);
      expect(body['next']).toBeNull();

      const paged: unknown[] = [];
      let next: number | null = null;
      do {
        const after: string = next === null ? '' : `&after=${String(next)}`;
        const page = await host.get(`/api/sessions/${id}/messages?limit=3${after}`);
        const rows = page.body['messages'] as unknown[];
        expect(rows.length).toBeLessThanOrEqual(3);
        paged.push(...rows);
        next = page.body['next'] as number | null;
      } while (next !== null);
      expect(paged).toEqual(messages);
    });
  });

  test('a fork has the turns up to the one that is named', async () => {
    await withHost({ scripts: [say('One.'), say('Two.')] }, async (host) => {
      const id = await host.session();
      await host.wholeTurn(id, 'first');
      await host.wholeTurn(id, 'second');
      const { status, body } = await host.post(`/api/sessions/${id}/fork`, { turn: 'turn-0' });
      expect(status).toBe(201);
      expect(body['session']).toMatchObject({ title: 'first', turns: 1 });
      const missing = await host.post(`/api/sessions/${id}/fork`, { turn: 'turn-9' });
      expect(missing.status).toBe(400);
    });
  });

  test('the context is what the model would get next', async () => {
    await withHost({ scripts: [say('Hi.')] }, async (host) => {
      const id = await host.session();
      await host.wholeTurn(id, 'good morning');
      const { status, body } = await host.get(`/api/sessions/${id}/context`);
      expect(status).toBe(200);
      const context = body['context'] as Record<string, Record<string, unknown>>;
      expect(context['request']?.['messages']).toMatchObject([{ role: 'user' }, { role: 'assistant' }]);
      expect(context['tokens']?.['total']).toBeGreaterThan(0);
    });
  });
});

describe('turns', () => {
  test('one runs at a time, and the refusal of a second says which', async () => {
    const gate = new Gate();
    await withHost({ scripts: [[() => gate.wait(), ...say('Hi.')]] }, async (host) => {
      const id = await host.session();
      const reader = await host.events(id);
      const turn = await host.turn(id);
      const second = await host.post(`/api/sessions/${id}/turns`, { input: 'again' });
      expect(second.status).toBe(409);
      expect(errorOf(second)).toMatchObject({ code: 'busy', details: { running: { turn } } });
      const { body } = await host.get(`/api/sessions/${id}`);
      expect(body).toMatchObject({ running: { turn, waiting: [] }, session: { running: true } });
      const sessions = async (): Promise<unknown> => (await host.get('/api/sessions')).body['sessions'];
      expect(await sessions()).toMatchObject([{ id, running: true }]);
      gate.open();
      await reader.untilEnd(turn);
      expect(await sessions()).toMatchObject([{ id, running: false }]);
      await reader.close();
    });
  });

  test('what is said to a running turn comes to its model', async () => {
    const gate = new Gate();
    const tools = (): FakeToolRegistry => new FakeToolRegistry({ work: () => gate.wait() });
    await withHost({ scripts: [callTools(call), say('Yes.')], tools }, async (host) => {
      const id = await host.session();
      const reader = await host.events(id);
      const turn = await host.turn(id);
      await reader.until(({ name }) => name === 'tool');
      const steered = await host.post(`/api/sessions/${id}/steer`, { input: 'be brief' });
      expect(steered.status).toBe(202);
      gate.open();
      await reader.untilEnd(turn);
      await reader.close();
      const { body } = await host.get(`/api/sessions/${id}/messages`);
      const texts = (body['messages'] as { text?: string }[]).map(({ text }) => text);
      expect(texts.join('\n')).toContain('be brief');
    });
  });

  test('a cancel ends a turn in the middle of a tool, and its reason is told', async () => {
    const tools = (): FakeToolRegistry =>
      new FakeToolRegistry({ work: () => new Promise(() => undefined) });
    await withHost({ scripts: [callTools(call)], tools }, async (host) => {
      const id = await host.session();
      const reader = await host.events(id);
      const turn = await host.turn(id);
      await reader.until(({ name }) => name === 'tool');
      const { status } = await host.post(`/api/sessions/${id}/cancel`, { reason: 'too slow' });
      expect(status).toBe(202);
      const events = await reader.untilEnd(turn);
      expect(events.at(-1)?.payload).toMatchObject({ phase: 'cancelled', reason: 'too slow' });
      await reader.close();
    });
  });

  test('nothing can be said to, or cancelled in, a session in which nothing runs', async () => {
    await withHost({ scripts: [say('Hi.')] }, async (host) => {
      const id = await host.session();
      for (const isOpen of [false, true]) {
        if (isOpen) await host.wholeTurn(id);
        const steered = await host.post(`/api/sessions/${id}/steer`, { input: 'hm' });
        const cancelled = await host.post(`/api/sessions/${id}/cancel`);
        expect([steered.status, cancelled.status]).toEqual([409, 409]);
        expect(errorOf(cancelled)['code']).toBe('idle');
      }
    });
  });
});

describe('approvals', () => {
  const askingTools = (ran: () => void) => (desk: Parameters<HostOptions['parts']['tools']>[0]) => {
    const registry = new DefaultToolRegistry({ findApproval: () => desk });
    const parameters = { type: 'object' } as const;
    registry.register(defineTool({ name: 'work', description: 'Works.', parameters, execute: ran }));
    registry.addGuard(askBefore(['work'], 'it works'));
    return registry;
  };

  test.each([
    ['allow', 1],
    ['deny', 0],
  ] as const)('a person can %s a call over HTTP, once', async (decision, runs) => {
    const ran = vi.fn();
    const scripts = [callTools(call), say('Done.')];
    await withHost({ scripts, tools: askingTools(ran) }, async (host) => {
      const id = await host.session();
      const reader = await host.events(id);
      const turn = await host.turn(id);
      const question = await reader.until(({ name }) => name === 'question');
      const { body } = await host.get(`/api/sessions/${id}/approvals`);
      const asked = { id: question.payload['id'], tool: 'work', args: { of: 2 } };
      expect(body['approvals']).toMatchObject([{ ...asked, call_id: 'call-1' }]);

      const path = `/api/sessions/${id}/approvals/${String(asked.id)}`;
      const wrong = await host.post(path, { decision: 'perhaps' });
      expect(wrong.status).toBe(400);
      const answered = await host.post(path, { decision, reason: 'so I say' });
      expect(answered.status).toBe(200);
      await reader.untilEnd(turn);
      await reader.close();
      expect(ran).toHaveBeenCalledTimes(runs);
      const again = await host.post(path, { decision });
      expect([again.status, errorOf(again)['code']]).toEqual([410, 'gone']);
    });
  });

  test('a session that is not open has no questions', async () => {
    await withHost({}, async (host) => {
      const id = await host.session();
      const { body } = await host.get(`/api/sessions/${id}/approvals`);
      expect(body['approvals']).toEqual([]);
      const path = `/api/sessions/${id}/approvals/some-question`;
      expect((await host.post(path, { decision: 'allow' })).status).toBe(410);
    });
  });
});

test('the document and the sign of life are answered', async () => {
  await withHost({}, async (host) => {
    expect((await host.get('/api/openapi.json')).body['openapi']).toBe('3.1.0');
    expect((await host.get('/api/healthz')).body).toEqual({ ok: true });
  });
});

describe('refusals', () => {
  test.each([
    [{ input: 3 }, 'body.input: expected a text, got 3'],
    [{}, 'body.input: expected a text, got undefined'],
    [{ input: ' ' }, 'body.input: expected a text with words in it, got " "'],
    [{ input: 'a', model: 'b' }, 'body.model: expected no such field, got one'],
    [[], 'body: expected an object, got an array'],
    [null, 'body: expected an object, got null'],
  ])('the body %j is refused with what is wrong about it', async (body, message) => {
    await withHost({}, async (host) => {
      const reply = await host.post(`/api/sessions/${await host.session()}/turns`, body);
      expect(reply.status).toBe(400);
      expect(errorOf(reply)).toMatchObject({ code: 'invalid', message });
    });
  });

  test.each([
    ['limit=0', 'query.limit: expected at least 1, got 0'],
    ['limit=1001', 'query.limit: expected at most 1000, got 1001'],
    ['limit=ten', 'query.limit: expected a whole number, got "ten"'],
    ['after=1.5', 'query.after: expected a whole number, got "1.5"'],
    ['page=2', 'query.page: expected no such field, got one'],
  ])('the query %s is refused with what is wrong about it', async (query, message) => {
    await withHost({}, async (host) => {
      const reply = await host.get(`/api/sessions/${await host.session()}/messages?${query}`);
      expect([reply.status, errorOf(reply)['message']]).toEqual([400, message]);
    });
  });

  test('a body that is no JSON, or not UTF-8, is refused', async () => {
    await withHost({}, async (host) => {
      const path = `/api/sessions/${await host.session()}/turns`;
      const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
      const text = await host.ask('POST', path, { headers, body: '{"input":' });
      const latin = Uint8Array.from('{"input":"\xff"}', (letter) => letter.charCodeAt(0));
      const bytes = await host.ask('POST', path, { headers, body: latin });
      expect([text.status, bytes.status]).toEqual([400, 400]);
    });
  });

  test.each(['not-there', 'con'])('no route knows %s, which is no session', async (id) => {
    await withHost({}, async (host) => {
      if (id === 'con') writeFileSync(join(host.folder, 'con.jsonl'), '');
      const asked: Promise<Reply>[] = host.host.routes
        .filter(({ path }) => path.includes('{id}'))
        .map(({ method, path }) => {
          const url = `/api${path.replace('{id}', id).replace('{approval}', 'a')}`;
          const body = { input: 'a', turn: 'turn-0', decision: 'allow' };
          const name = /(turns|steer|fork|cancel|approvals)/.exec(path)?.[1];
          const field = { turns: 'input', steer: 'input', fork: 'turn', approvals: 'decision' }[
            name ?? ''
          ] as keyof typeof body | undefined;
          const sent = field === undefined ? {} : { [field]: body[field] };
          return method === 'get' ? host.get(url) : host.post(url, sent);
        });
      const replies = await Promise.all(asked);
      expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 404));
      expect(replies.length).toBe(10);
    });
  });

  test('a route that is not there is 404, a method that is not 405 and says which are', async () => {
    await withHost({}, async (host) => {
      expect((await host.get('/api/nothing')).status).toBe(404);
      expect((await host.get('/favicon.ico')).status).toBe(404);
      const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
      const wrong = await host.ask('DELETE', '/api/sessions', { headers });
      expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
      const get = await host.get('/api/sessions/a/turns');
      expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
      expect((await host.ask('POST', '/', { headers, body: '{}' })).status).toBe(405);
    });
  });

  test('a fault of the host says nothing to who asked, and all to its owner', async () => {
    const onFault = vi.fn(() => {
      throw new Error('the owner has faults, too');
    });
    const tools = (): never => {
      throw new Error(`secret ${TOKEN} at /home/somebody`);
    };
    await withHost({ onFault, tools }, async (host) => {
      const id = await host.session();
      const reply = await host.post(`/api/sessions/${id}/turns`, { input: 'hello' });
      expect(reply.status).toBe(500);
      expect(errorOf(reply)).toEqual({ code: 'failed', message: 'the host is at fault' });
      const where = { method: 'POST', path: '/api/sessions/{id}/turns' };
      await host.get('/api/sessions/not-there');
      expect(onFault).toHaveBeenCalledExactlyOnceWith(expect.any(Error), where);
    });
  });

  test('closing the host ends its streams; no turn starts and no stream opens after that', async () => {
    await withHost({}, async (host) => {
      const id = await host.session();
      const reader = await host.events(id);
      expect(host.host.close()).toBe(host.host.close());
      await host.host.close();
      while (await reader.more());
      const turn = await host.post(`/api/sessions/${id}/turns`, { input: 'hello' });
      const events = await host.get(`/api/sessions/${id}/events`);
      expect([turn.status, events.status]).toEqual([410, 410]);
    });
  });
});

describe('options', () => {
  const parts = partsOf(new HangingLlm());
  const good: HostOptions = { folder: 'sessions', parts };

  test.each<[string, object]>([
    ['token', { token: 'short' }],
    ['allowedHosts', { allowedHosts: ['http://a/'] }],
    ['limits.bodyBytes', { limits: { bodyBytes: 0 } }],
    ['limits.requestsPerMinute', { limits: { requestsPerMinute: NaN } }],
    ['limits.streams', { limits: { streams: 1.5 } }],
    ['limits.openSessions', { limits: { openSessions: -1 } }],
    ['heartbeatMs', { heartbeatMs: 2 ** 31 }],
    ['ring.maxBytes', { ring: { maxBytes: 0 } }],
    ['onFault', { onFault: 'log' }],
  ])('a wrong %s is a TypeError that names it, and shows no token', (name, wrong) => {
    const make = (): unknown => createHost({ ...good, ...wrong });
    expect(make).toThrow(TypeError);
    expect(make).toThrow(new RegExp(`options\\.${name}: expected (?!.*"short")`));
  });

  test.each<[object, string]>([
    [{ folder: '' }, 'folder: expected a path, got ""'],
    [{ parts: null }, 'parts: expected an object, got null'],
    [{ parts: { ...parts, llm: {} } }, 'parts.llm: expected a model with generate, got an object'],
    [{ parts: { ...parts, tools: 1 } }, 'parts.tools: expected a function, got 1'],
    [{ parts: { ...parts, config: 1 } }, 'parts.config: expected an object, got 1'],
    [{ parts: { ...parts, now: 1 } }, 'parts.now: expected a function, got 1'],
    [{ parts: { ...parts, progressMs: 0 } }, 'parts.progressMs: expected milliseconds above 0, got 0'],
    [{ parts: { ...parts, timeouts: 5 } }, 'parts.timeouts: expected an object, got 5'],
    [{ parts: { ...parts, loop: {} } }, 'parts.loop: expected a function that makes a loop, got an object'],
  ])('%j is told by name', (wrong, message) => {
    expect(() => createHost({ ...good, ...wrong })).toThrow(new TypeError(message));
  });
});
