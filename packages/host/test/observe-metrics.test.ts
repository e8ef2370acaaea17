import { callTools, done, FakeToolRegistry, Gate, say } from '@celestea/agent-loop/testing';
import { TURN_OUTCOMES, zeroUsage, type Usage } from '@celestea/core';
import { askBefore, DefaultToolRegistry, defineTool } from '@celestea/tools';
import { pino } from 'pino';
import { register } from 'prom-client';
import { describe, expect, test } from 'vitest';

import type { HostEvent } from '../src/events/index.ts';
import { Observer } from '../src/observe/index.ts';
import type { ApprovalDesk } from '../src/index.ts';
import { BEARER, checkHead, JSON_TYPE, withHost, type TestHost } from './http-support.ts';

const call = { id: 'call-1', name: 'work', args: {} };

/** The samples of a scrape by their name and labels. */
function samplesIn(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

async function scrape(host: TestHost): Promise<Map<string, number>> {
  const response = await host.raw('GET', '/metrics', { headers: BEARER });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const text = await response.text();
  checkHead(response, text);
  return samplesIn(text);
}

const observer = (isTool: (session: string, name: string) => boolean = () => true): Observer =>
  new Observer({
    log: pino({ enabled: false }),
    onFault: () => undefined,
    redact: (text) => text,
    readers: () => 0,
    openSessions: () => 0,
    isTool,
  });

const samplesOf = async (seen: Observer): Promise<Map<string, number>> =>
  samplesIn((await seen.metrics()).text);

describe('the metrics of a host', () => {
  test('count turns, steps, tools, tokens and events', async () => {
    const counted = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };
    const usage = { ...counted, cache_read: 3, reasoning_tokens: 2 };
    const scripts = [
      [{ kind: 'usage', usage } as const, done('', call, { ...call, id: 'call-2', name: 'none' })],
      say('Done.'),
    ];
    const tools = (): FakeToolRegistry => new FakeToolRegistry({ work: () => 1 });
    await withHost({ scripts, tools }, async (host) => {
      const id = await host.session();
      const events = await host.wholeTurn(id);
      const samples = await scrape(host);
      expect(Object.fromEntries(samples)).toMatchObject({
        celestea_turns_started_total: 1,
        'celestea_turns_ended_total{outcome="completed"}': 1,
        'celestea_turns_ended_total{outcome="error"}': 0,
        celestea_turns_running: 0,
        celestea_turn_duration_seconds_count: 1,
        celestea_model_steps_total: 2,
        'celestea_tool_calls_total{tool="work",ok="true"}': 1,
        'celestea_tool_calls_total{tool="other",ok="false"}': 1,
        'celestea_model_tokens_total{kind="input"}': 7,
        'celestea_model_tokens_total{kind="output"}': 5,
        'celestea_model_tokens_total{kind="cached"}': 3,
        'celestea_model_tokens_total{kind="reasoning"}': 2,
        celestea_events_published_total: events.length,
        celestea_sessions_open: 1,
        celestea_stream_readers: 0,
        celestea_stream_readers_lagged_total: 0,
        celestea_approvals_waiting: 0,
      });
    });
  });

  test('show what runs, who reads, who lagged and what waits for a person', async () => {
    const gate = new Gate();
    const tools = (desk: ApprovalDesk): DefaultToolRegistry => {
      const registry = new DefaultToolRegistry({ findApproval: () => desk });
      const parameters = { type: 'object' } as const;
      const execute = (): unknown => gate.wait();
      registry.register(defineTool({ name: 'work', description: 'Works.', parameters, execute }));
      registry.addGuard(askBefore(['work'], 'it works'));
      return registry;
    };
    await withHost({ scripts: [callTools(call), say('Done.')], tools }, async (host) => {
      const id = await host.session();
      const reader = await host.events(id);
      const turn = await host.turn(id);
      const { payload } = await reader.until(({ name }) => name === 'question');
      const late = await host.events(id, 0);
      await late.until(({ payload: { phase } }) => phase === 'lagged');
      const names = [
        'celestea_turns_running',
        'celestea_stream_readers',
        'celestea_stream_readers_lagged_total',
        'celestea_approvals_waiting',
      ];
      const before = await scrape(host);
      expect(names.map((name) => before.get(name))).toEqual([1, 2, 1, 1]);
      const path = `/api/sessions/${id}/approvals/${String(payload['id'])}`;
      await host.post(path, { decision: 'allow' });
      gate.open();
      await reader.untilEnd(turn);
      await reader.close();
      await late.close();
      const after = await scrape(host);
      expect(names.map((name) => after.get(name))).toEqual([0, 0, 1, 0]);
    });
  });

  test('name the routes of requests, and nothing that a caller wrote', async () => {
    await withHost({}, async (host) => {
      const id = await host.session();
      await host.get(`/api/sessions/${id}/messages`);
      await host.get('/api/sessions/secret-id/messages');
      await host.get('/secret/path?secret=1');
      await host.ask('GET', '/api/sessions', {});
      await host.ask('SECRET', '/api/sessions', { headers: BEARER });
      await host.raw('HEAD', '/api/healthz');
      await host.raw('GET', '/');
      await host.get('/assets/secret.js');
      await host.ask('GET', '/api/healthz', { headers: { host: 'secret.example' } });
      const samples = await scrape(host);
      const requests = (route: string, method: string, status: number): number | undefined => {
        const labels = `route="${route}",method="${method}",status="${String(status)}"`;
        return samples.get(`celestea_http_requests_total{${labels}}`);
      };
      expect([
        requests('/api/sessions', 'POST', 201),
        requests('/api/sessions/{id}/messages', 'GET', 200),
        requests('/api/sessions/{id}/messages', 'GET', 404),
        requests('other', 'GET', 404),
        requests('/api/sessions', 'GET', 401),
        requests('/api/sessions', 'other', 405),
        requests('/api/healthz', 'HEAD', 200),
        requests('/', 'GET', 401),
        requests('/assets/{name}', 'GET', 404),
        requests('/api/healthz', 'GET', 403),
      ]).toEqual(Array.from({ length: 10 }, () => 1));
      expect([...samples.keys()].join()).not.toMatch(/secret/i);
    });
  });

  test('ask for the token, from this host and by get', async () => {
    await withHost({}, async (host) => {
      expect((await host.ask('GET', '/metrics', {})).status).toBe(401);
      const headers = { ...BEARER, 'sec-fetch-site': 'cross-site' };
      expect((await host.ask('GET', '/metrics', { headers })).status).toBe(403);
      const post = await host.ask('POST', '/metrics', { headers: { ...BEARER, ...JSON_TYPE } });
      expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
      expect((await host.raw('HEAD', '/metrics', { headers: BEARER })).status).toBe(200);
    });
  });

  test('are each host’s own, and none is in the registry that all share', async () => {
    await withHost({ scripts: [say('Hi.')] }, async (one) => {
      await withHost({}, async (two) => {
        await one.wholeTurn(await one.session());
        expect((await scrape(one)).get('celestea_turns_started_total')).toBe(1);
        expect((await scrape(two)).get('celestea_turns_started_total')).toBe(0);
      });
    });
    expect(register.getMetricsAsArray()).toEqual([]);
  });
});

describe('an observer', () => {
  const answer = { ok: true, value: 1, render: null, error: null, decision: null };

  const answered = (index: number): HostEvent[] => {
    const [turn, id] = ['turn-0', `call-${String(index)}`];
    return [
      { name: 'tool', turn, payload: { id, name: `tool-${String(index)}`, args: {} } },
      { name: 'tool_result', turn, payload: { id, ...answer } },
    ];
  };

  test('has a hundred tools by name, and one name for the rest', async () => {
    const seen = observer();
    for (let index = 0; index < 250; index += 1) {
      for (const event of answered(index)) seen.onEvent('a', event);
    }
    for (const event of answered(7)) seen.onEvent('b', event);
    const samples = await samplesOf(seen);
    const tools = [...samples].filter(([name]) => name.startsWith('celestea_tool_calls_total'));
    expect(tools.length).toBe(101);
    expect(samples.get('celestea_tool_calls_total{tool="other",ok="true"}')).toBe(150);
    expect(samples.get('celestea_tool_calls_total{tool="tool-7",ok="true"}')).toBe(2);
  });

  test('gives no name that a model made up, and none that is too long', async () => {
    const long = 'n'.repeat(65);
    const real = new Set([long, 'n'.repeat(64), 'tool-249']);
    const seen = observer((session, name) => session === 'a' && real.has(name));
    const longs: HostEvent[] = [...real].flatMap((name) => [
      { name: 'tool', turn: 'turn-0', payload: { id: name, name, args: {} } },
      { name: 'tool_result', turn: 'turn-0', payload: { id: name, ...answer } },
    ]);
    for (let index = 0; index < 249; index += 1) {
      for (const event of answered(index)) seen.onEvent('a', event);
    }
    for (const event of longs) seen.onEvent('a', event);
    for (const event of answered(249)) seen.onEvent('b', event);
    const samples = [...(await samplesOf(seen))];
    expect(samples.filter(([name]) => name.includes('tool_calls')).sort()).toEqual([
      [`celestea_tool_calls_total{tool="${'n'.repeat(64)}",ok="true"}`, 1],
      ['celestea_tool_calls_total{tool="other",ok="true"}', 251],
      ['celestea_tool_calls_total{tool="tool-249",ok="true"}', 1],
    ]);
  });

  test('tells calls of the same id in two sessions apart', async () => {
    const seen = observer();
    const called = (name: string): HostEvent => {
      return { name: 'tool', turn: 't', payload: { id: 'c', name, args: {} } };
    };
    seen.onEvent('a', called('one'));
    seen.onEvent('b', called('two'));
    for (const session of ['a', 'b']) {
      const payload = { id: 'c', ...answer, ok: false };
      seen.onEvent(session, { name: 'tool_result', turn: 't', payload });
    }
    const samples = await samplesOf(seen);
    for (const tool of ['one', 'two']) {
      expect(samples.get(`celestea_tool_calls_total{tool="${tool}",ok="false"}`)).toBe(1);
    }
  });

  test.each(TURN_OUTCOMES)('counts a turn that came to %s', async (phase) => {
    const seen = observer();
    const usage = zeroUsage();
    const payload = { phase, turn: 'turn-0', steps: 1, milliseconds: 1500, usage };
    seen.onEvent('a', { name: 'status', turn: null, payload });
    const samples = await samplesOf(seen);
    expect(samples.get(`celestea_turns_ended_total{outcome="${phase}"}`)).toBe(1);
    expect(samples.get('celestea_turn_duration_seconds_sum')).toBe(1.5);
  });

  test('takes counts that are none for nothing', async () => {
    const seen = observer();
    const usage: Usage = { ...zeroUsage(), prompt_tokens: -7 };
    const counts = { steps: -1, milliseconds: NaN, usage };
    const payload = { phase: 'completed', turn: 'turn-0', ...counts } as const;
    seen.onEvent('a', { name: 'status', turn: null, payload });
    const samples = await samplesOf(seen);
    expect(samples.get('celestea_turns_ended_total{outcome="completed"}')).toBe(1);
    expect(samples.get('celestea_model_steps_total')).toBe(0);
    expect(samples.get('celestea_model_tokens_total{kind="input"}')).toBe(0);
  });

  test('takes no turn that died with its process for one that ended here', async () => {
    const seen = observer();
    const payload = { phase: 'interrupted', turn: 'turn-0' } as const;
    seen.onEvent('a', { name: 'status', turn: null, payload });
    const ended = [...(await samplesOf(seen))].filter(([name]) => name.includes('turns_ended'));
    expect(ended.map(([, count]) => count)).toEqual([0, 0, 0, 0, 0]);
  });
});
