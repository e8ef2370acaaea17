import {
  callTools,
  done,
  FakeToolRegistry,
  say,
  think,
  type Script,
} from '@celestea/agent-loop/testing';
import { askBefore, DefaultToolRegistry, defineTool } from '@celestea/tools';
import { pino, type Logger } from 'pino';
import { describe, expect, test, vi } from 'vitest';

import { createHost, type ApprovalDesk, type HostOptions } from '../src/index.ts';
import { BEARER, COOKIE, JSON_TYPE, TOKEN, withHost } from './http-support.ts';

type Line = Record<string, unknown>;

const LEVELS: Record<number, string> = { 20: 'debug', 30: 'info', 40: 'warn', 50: 'error' };

/** A logger, and the lines that it wrote, without what pino adds to each. */
function collector(level = 'trace'): { log: Logger; lines: () => Line[]; text: () => string } {
  let text = '';
  const log = pino({ level, base: null }, { write: (line: string) => (text += line) });
  const lines = (): Line[] =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const { level: number, time, ...rest } = JSON.parse(line) as Line;
        expect(time).toEqual(expect.any(Number));
        return { level: LEVELS[Number(number)], ...rest };
      });
  return { log, lines, text: () => text };
}

const call = { id: 'call-1', name: 'work', args: { secret: 'SECRET-ARGS' } };

function askingTools(desk: ApprovalDesk): DefaultToolRegistry {
  const registry = new DefaultToolRegistry({ findApproval: () => desk });
  const parameters = { type: 'object' } as const;
  const execute = (): string => 'SECRET-RESULT';
  registry.register(defineTool({ name: 'work', description: 'Works.', parameters, execute }));
  registry.addGuard(askBefore(['work'], 'SECRET-REASON'));
  return registry;
}

describe('the lines of a host', () => {
  test('tell of a turn, its approvals and every request, and hold no secret', async () => {
    const scripts: Script[] = [
      [think('SECRET-THOUGHT'), done('SECRET-WORDS', call)],
      [
        { kind: 'text', text: 'SECRET-PART' },
        () => {
          throw new Error('SECRET-FAULT');
        },
      ],
    ];
    const { log, lines, text } = collector();
    await withHost({ scripts, tools: askingTools, log }, async (host) => {
      const id = await host.session();
      const reader = await host.events(id);
      const turn = await host.turn(id, 'SECRET-INPUT');
      const { payload } = await reader.until(({ name }) => name === 'question');
      await host.post(`/api/sessions/${id}/steer`, { input: 'SECRET-STEERING' });
      const path = `/api/sessions/${id}/approvals/${String(payload['id'])}`;
      await host.post(path, { decision: 'deny', reason: 'SECRET-DENIAL' });
      await reader.untilEnd(turn);
      await reader.close();
      await host.raw('GET', `/?token=${TOKEN}`);
      const cookie = `${COOKIE}; a=SECRET-COOKIE`;
      await host.raw('GET', '/', { headers: { cookie } });
      await host.get('/api/SECRET-PATH?q=SECRET-QUERY', { 'x-a': 'SECRET-HEADER' });
      await host.post('/api/sessions', { 'SECRET-FIELD': 1 });

      const told = lines();
      const requests = told.filter(({ msg }) => msg === 'request');
      expect(told.filter(({ msg }) => msg !== 'request')).toEqual([
        { level: 'info', session: id, turn, msg: 'turn started' },
        { level: 'info', session: id, turn, tool: 'work', msg: 'approval asked' },
        {
          level: 'info',
          session: id,
          turn,
          tool: 'work',
          decision: 'deny',
          msg: 'approval answered',
        },
        { level: 'warn', session: id, turn, kind: 'model_failed', msg: 'diagnostic' },
        {
          level: 'info',
          session: id,
          turn,
          outcome: 'error',
          steps: 2,
          usage: expect.objectContaining({ prompt_tokens: 0 }) as unknown,
          milliseconds: expect.any(Number) as unknown,
          msg: 'turn ended',
        },
      ]);
      expect(requests.map(({ route, method, status }) => [method, route, status])).toEqual([
        ['POST', '/api/sessions', 201],
        ['GET', '/api/sessions/{id}', 200],
        ['GET', '/api/sessions/{id}/events', 200],
        ['POST', '/api/sessions/{id}/turns', 202],
        ['POST', '/api/sessions/{id}/steer', 202],
        ['POST', '/api/sessions/{id}/approvals/{approval}', 200],
        ['GET', '/', 303],
        ['GET', '/', 200],
        ['GET', 'other', 404],
        ['POST', '/api/sessions', 400],
      ]);
      const fields = ['level', 'method', 'milliseconds', 'msg', 'route', 'status'];
      for (const line of requests) {
        expect(Object.keys(line).sort()).toEqual(fields);
        expect([line['level'], line['milliseconds']]).toEqual(['debug', expect.any(Number)]);
      }
      expect(text()).not.toMatch(/SECRET/);
      expect(text()).not.toContain(TOKEN);
      expect(text()).not.toMatch(/bearer|cookie/i);
    });
  });

  test('tell of a reader that lagged', async () => {
    const { log, lines } = collector('warn');
    await withHost({ log, scripts: [say('Hi.')] }, async (host) => {
      const id = await host.session();
      const late = await host.events(id, 0);
      await late.until(({ payload: { phase } }) => phase === 'lagged');
      await late.close();
      expect(lines()).toEqual([{ level: 'warn', session: id, msg: 'reader lagged' }]);
    });
  });

  test('tell of a fault and its causes as their owner is told, but for the token', async () => {
    const { log, lines, text } = collector('warn');
    const onFault = vi.fn();
    const cause = new TypeError('of old');
    const beside = { headers: BEARER, body: 'SECRET-BODY' };
    const fault = Object.assign(new Error(`no tools for ${TOKEN}`, { cause }), beside);
    const tools = (): never => {
      throw fault;
    };
    await withHost({ log, onFault, tools }, async (host) => {
      const id = await host.session();
      await host.post(`/api/sessions/${id}/turns`, { input: 'SECRET-INPUT' });
      expect(onFault).toHaveBeenCalledOnce();
      expect(lines()).toEqual([
        {
          level: 'error',
          route: '/api/sessions/{id}/turns',
          method: 'POST',
          fault: {
            type: 'Error',
            message: 'no tools for (token)',
            stack: expect.stringContaining('no tools for (token)') as unknown,
            cause: {
              type: 'TypeError',
              message: 'of old',
              stack: expect.stringContaining('TypeError: of old') as unknown,
            },
          },
          msg: 'fault',
        },
      ]);
      expect(text()).not.toContain(TOKEN);
      expect(text()).not.toContain('SECRET');
    });
  });

  test.each<[string, unknown]>([
    ['a text', 'SECRET-TEXT'],
    ['a cause of itself', Object.assign(new Error('round'), { cause: null })],
  ])('tell of %s that was thrown', async (_, thrown) => {
    if (thrown instanceof Error) thrown.cause = thrown;
    const { log, lines, text } = collector('error');
    const tools = (): never => {
      throw thrown;
    };
    await withHost({ log, tools }, async (host) => {
      await host.post(`/api/sessions/${await host.session()}/turns`, { input: 'a' });
      expect(lines().length).toBe(1);
      expect(text()).not.toContain('SECRET');
    });
  });

  test('disturb nobody when they cannot be written', async () => {
    const fail = (): never => {
      throw new Error('the disk is full');
    };
    const log = { debug: fail, info: fail, warn: fail, error: fail } as unknown as Logger;
    const tools = (): FakeToolRegistry => new FakeToolRegistry({ work: () => 1 });
    await withHost({ log, tools, scripts: [callTools(call), say('Hi.')] }, async (host) => {
      const id = await host.session();
      const events = await host.wholeTurn(id);
      expect(events.at(-1)?.payload['phase']).toBe('completed');
      const { status, body } = await host.ask('POST', `/api/sessions/${id}/fork`, {
        headers: { ...BEARER, ...JSON_TYPE },
        body: '{"turn":"turn-0"}',
      });
      expect([status, body['ok']]).toEqual([201, true]);
    });
  });

  test.each([[null], ['log'], [{}], [{ debug: 1, info: 1, warn: 1, error: 1 }]])(
    'go to a pino logger, not to %j',
    (log) => {
      const parts = { llm: { generate: () => 0 }, tools: () => 0, config: {} };
      const make = (): unknown =>
        createHost({ folder: 'a', parts, page: null, log } as unknown as HostOptions);
      expect(make).toThrow(/^options\.log: expected a pino logger/);
    },
  );
});
