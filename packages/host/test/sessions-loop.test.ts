import { DefaultAgentLoop } from '@celestea/agent-loop';
import {
  callTools,
  FakeToolRegistry,
  HangingLlm,
  say,
  ScriptedLlm,
} from '@celestea/agent-loop/testing';
import { traceLoop } from '@celestea/otel';
import { describe, expect, test } from 'vitest';

import { hostLogger } from '../src/index.ts';
import type { LiveSessionParts, SessionLoop } from '../src/sessions/index.ts';
import { liveSession, partsOf } from './sessions-support.ts';

describe('the loop of a session', () => {
  test('gives up on a model that says nothing for too long', async () => {
    const parts = { ...partsOf(new HangingLlm()), timeouts: { streamIdleMs: 1 } };
    const { session, reader } = await liveSession(parts);
    const { payload } = await reader.end(session.startTurn('hello'));
    expect(payload).toMatchObject({ phase: 'error' });
    expect(payload['error']).toContain('the model sent nothing for 1 ms');
  });

  test('gives up on a tool that takes too long, and goes on', async () => {
    const llm = new ScriptedLlm([callTools({ id: 'a', name: 'sleep', args: {} }), say('Anyway.')]);
    const tools = (): FakeToolRegistry =>
      new FakeToolRegistry({ sleep: () => new Promise(() => undefined) });
    const parts = { ...partsOf(llm, { tools }), timeouts: { toolMs: 1 } };
    const { session, reader } = await liveSession(parts);
    const { payload } = await reader.end(session.startTurn('hello'));
    expect(payload).toMatchObject({ phase: 'completed', steps: 2 });
    const result = reader.events.find(({ name }) => name === 'tool_result');
    expect(result?.payload['error']).toContain('timed out');
  });

  test('may be made by the host: it is told the config and the session', async () => {
    const made: unknown[] = [];
    const loop: LiveSessionParts['loop'] = (config, id): SessionLoop => {
      made.push([config.model, id]);
      return traceLoop(new DefaultAgentLoop(config), { conversationId: id });
    };
    const parts = { ...partsOf(new ScriptedLlm([say('Hi.')]), { config: { model: 'm' } }), loop };
    const { session, reader } = await liveSession(parts);
    expect((await reader.end(session.startTurn('hello'))).payload).toMatchObject({
      phase: 'completed',
    });
    expect(made).toEqual([['m', 'a-session']]);
  });
});

describe('the logger of a host', () => {
  test('writes a line of JSON for what is of its level, which it names', () => {
    const lines: unknown[] = [];
    const log = hostLogger({ write: (line) => lines.push(JSON.parse(line)) }, 'warn');
    log.info('not this');
    log.warn({ session: 'a' }, 'this');
    const time = expect.any(Number) as number;
    expect(lines).toEqual([{ level: 'warn', time, session: 'a', msg: 'this' }]);
  });

  test('has the levels that it lists', () => {
    const level = 'loud' as 'info';
    expect(() => hostLogger({ write: () => undefined }, level)).toThrow(
      new TypeError('level: expected one of debug, info, warn, error, got "loud"'),
    );
  });
});
