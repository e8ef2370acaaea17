import type { SessionEvent } from '@celestea/core';
import fc from 'fast-check';

import { ARGS, MALFORMED, OUTPUTS, THROWN, VALUES } from './worlds-values.ts';
import {
  describeWorld,
  type CallPlan,
  type Hook,
  type Moment,
  type ReplyPlan,
  type StreamItem,
  type ToolPlan,
  type World,
} from './worlds.ts';

const nameOf = <T extends object>(table: T): fc.Arbitrary<keyof T> =>
  fc.constantFrom(...(Object.keys(table) as (keyof T)[]));
const one = <const T extends readonly unknown[]>(...of: T): fc.Arbitrary<T[number]> =>
  fc.constantFrom<T[number][]>(...of);
/** Mostly the first. */
const mostly = <const T extends readonly unknown[]>(...of: T): fc.Arbitrary<T[number]> =>
  fc.oneof({ arbitrary: fc.constant<T[number]>(of[0]), weight: 4 }, one(...of.slice(1)));
const seldom = <T>(of: fc.Arbitrary<T>, times = 5): fc.Arbitrary<T | null> =>
  fc.oneof({ arbitrary: fc.constant(null), weight: times }, of);

const text = one('a', 'word ', '漢字', '😀', '\ud83d', '', 'long '.repeat(30));
const words = one('ping', 'look at src', 'torn \ude00');
const thrown = nameOf(THROWN);
const pace = fc.oneof({ arbitrary: one('now', 'soon', 2, 10, 100), weight: 9 }, one('never'));

const tool: fc.Arbitrary<ToolPlan> = fc.record({
  pace,
  obeys: fc.boolean(),
  does: mostly('value', 'throw', 'reject', 'output'),
  value: nameOf(VALUES),
  error: thrown,
  output: nameOf(OUTPUTS),
  post: mostly('', 'from a tool'),
});
const call: fc.Arbitrary<CallPlan> = fc.record({
  id: one('a', 'b', 'c', 'd', '', 'call-turn-0-0', null, 7, 'torn \ud83d', 'e', 'f'),
  name: mostly('named', ''),
  args: nameOf(ARGS),
  tool,
});
const finish = mostly(null, 'stop', 'tool_calls', 'length', 'refusal');
const done = (calls: number): fc.Arbitrary<StreamItem> =>
  fc.record({
    kind: fc.constant('done' as const),
    texts: fc.array(text, { maxLength: 2 }),
    calls: fc.array(call, { minLength: Math.min(calls, 1), maxLength: calls }),
    finish,
  });
const thinking: fc.Arbitrary<StreamItem> = fc.record({
  kind: fc.constant('thinking' as const),
  text,
  meta: seldom(fc.constant('sig'), 2),
});
const small: fc.Arbitrary<StreamItem> = fc.oneof(
  fc.record({ kind: fc.constant('text' as const), text }),
  thinking,
  fc.record({ kind: fc.constant('usage' as const), tokens: fc.integer({ min: 1, max: 99 }) }),
  fc.record({ kind: fc.constant('post' as const), text: words }),
  fc.record({ kind: fc.constant('wait' as const), pace: mostly(2, 'soon', 10, 100) }),
);
const last: fc.Arbitrary<StreamItem> = fc.oneof(
  fc.record({
    kind: fc.constant('failed' as const),
    kindOf: one('generate', 'stream'),
    message: one('no', 'overloaded'),
  }),
  fc.constant({ kind: 'interrupted' as const }),
  fc.record({ kind: fc.constant('throw' as const), error: thrown }),
  fc.record({ kind: fc.constant('malformed' as const), what: nameOf(MALFORMED) }),
  fc.constant({ kind: 'wait' as const, pace: 'never' as const }),
);
const few = (of: fc.Arbitrary<StreamItem>, maxLength = 3): fc.Arbitrary<StreamItem[]> =>
  fc.array(of, { maxLength });
const sequence = (parts: (StreamItem | StreamItem[])[]): StreamItem[] => parts.flat();
const anyItem: fc.Arbitrary<StreamItem> = fc.oneof(
  { arbitrary: small, weight: 4 },
  { arbitrary: done(2), weight: 2 },
  last,
);
const items: fc.Arbitrary<StreamItem[]> = fc.oneof(
  { arbitrary: fc.tuple(few(small), done(4), few(small, 2)).map(sequence), weight: 8 },
  { arbitrary: fc.tuple(few(small), done(0)).map(sequence), weight: 2 },
  { arbitrary: few(anyItem, 7), weight: 4 },
);
const reply: fc.Arbitrary<ReplyPlan> = fc.record({
  generate: fc.oneof(
    { arbitrary: fc.constant('stream' as const), weight: 20 },
    one('bare', 'throw', 'reject', 'hang', 'nothing', 'number', 'odd'),
  ),
  error: thrown,
  wait: mostly(0, 2),
  items,
  close: mostly('ok', 'throws', 'rejects', 'hangs', 'absent'),
});

const moment: fc.Arbitrary<Moment> = fc.oneof(
  { arbitrary: fc.constant({ kind: 'before' as const }), weight: 1 },
  {
    arbitrary: fc.record({
      kind: one('event', 'row', 'await', 'dispatch'),
      index: fc.nat(20),
      ticks: mostly(0, 1, 2, 3, 5, 8),
    }),
    weight: 12,
  },
  {
    arbitrary: fc.record({ kind: fc.constant('time' as const), ms: one(1, 3, 9, 21, 111) }),
    weight: 2,
  },
);
const abort = fc.record({
  at: moment,
  of: one('loop', 'turn'),
  reason: one('none', 'text', 'error', 'null', 'number', 'object', 'symbol'),
});
const hook: fc.Arbitrary<Hook> = fc.record({
  does: mostly('nothing', 'late', 'throw', 'reject', 'hang'),
  step: fc.nat(2),
  error: thrown,
});

/** Rows of earlier turns, as a turn that went well or a crash left them. */
const history: fc.Arbitrary<SessionEvent[]> = fc
  .array(
    fc.record({
      user: text,
      calls: fc.nat(3),
      answered: fc.nat(3),
      reply: text,
      rows: fc.integer({ min: 2, max: 14 }),
      signed: fc.boolean(),
    }),
    { maxLength: 2 },
  )
  .map((turns) =>
    turns.flatMap(({ user, calls, answered, reply: said, rows, signed }, turn) => {
      const ids = ['a', 'b', 'c'].slice(0, calls).map((id) => (turn === 0 ? id : `${id}1`));
      const whole: SessionEvent[] = [
        { type: 'turn_start', id: `turn-${String(turn)}` },
        { type: 'user_message', text: user },
        { type: 'thinking_delta', text: 'hm', ...(signed ? { meta: 'sig' } : {}) },
        ...ids.map((id): SessionEvent => ({ type: 'tool_call', id, name: 'look', args: {} })),
        ...ids
          .slice(0, answered)
          .map((id): SessionEvent => ({ type: 'tool_result', id, value: user, error: null })),
        { type: 'assistant_message', text: said },
        { type: 'turn_end', id: `turn-${String(turn)}`, outcome: 'completed' },
      ];
      return whole.slice(0, rows);
    }),
  );

const plan: fc.Arbitrary<World> = fc.record({
  history: fc.oneof(fc.constant<SessionEvent[]>([]), history),
  input: text,
  config: fc.record({
    maxSteps: one(16, 16, 0, -1, 1, 2, 3, 2.5, 1000, 'NaN', 'Infinity'),
    parallel: one(4, 0, -3, 1, 2, 2.9, 0.5, 100, 'NaN', 'Infinity'),
    window: fc.oneof(
      { arbitrary: one(0, 10_000_000), weight: 8 },
      one(1, -5),
      fc.integer({ min: 30, max: 900 }),
    ),
    threshold: mostly(1, 0.8, 0.5, 'NaN', 3),
    keep: one(1, 2, 10, 0),
  }),
  replies: fc.array(reply, { maxLength: 4 }),
  aborts: fc.oneof(
    { arbitrary: fc.constant<World['aborts']>([]), weight: 4 },
    { arbitrary: fc.array(abort, { minLength: 1, maxLength: 1 }), weight: 4 },
    fc.array(abort, { minLength: 2, maxLength: 2 }),
  ),
  steering: fc.oneof(
    fc.constant(null),
    fc.record({
      drain: mostly('ok', 'throws', 'promise', 'null', 'junk'),
      pending: mostly('ok', 'absent', 'throws', 'always', 'NaN'),
      posts: fc.oneof(
        { arbitrary: fc.constant([]), weight: 2 },
        fc.array(fc.record({ at: moment, text: words }), { maxLength: 2 }),
      ),
    }),
  ),
  log: fc.record({
    flush: one('absent', 'now', 'soon', 2),
    fault: seldom(
      fc.record({
        what: one('append', 'append', 'derive', 'flush', 'schemas', 'nextTurnId'),
        index: fc.nat(12),
        forever: fc.boolean(),
        error: thrown,
      }),
      4,
    ),
  }),
  sink: mostly('ok', 'throws', 'rejects'),
  diagnostics: mostly('ok', 'absent', 'throws'),
  usage: mostly('ok', 'throws'),
  timeouts: fc.record({ stream: mostly(0, 7, 55), tool: mostly(0, 7, 55) }),
  retention: mostly('absent', 'ok', 'null', 'throws', 'rejects', 'junk', 'hangs', 'late'),
  prepare: seldom(hook),
  policy: seldom(hook, 7),
});

/** Without an input the conversation has to have begun. */
const started = fc.tuple(plan, fc.nat(4)).map(([world, nth]): World => {
  const named = { ...world, replies: withNames(world.replies) };
  return nth === 0 && world.history.length > 0 ? { ...named, input: null } : named;
});

function withNames(replies: readonly ReplyPlan[]): ReplyPlan[] {
  let calls = 0;
  const nameCall = (of: CallPlan): CallPlan => {
    calls += 1;
    return of.name === '' ? of : { ...of, name: `tool_${String(calls)}` };
  };
  return replies.map((of) => ({
    ...of,
    items: of.items.map((item) =>
      item.kind === 'done' ? { ...item, calls: item.calls.map(nameCall) } : item,
    ),
  }));
}

/** Worlds of every kind; one that fails is printed as a script and as JSON. */
export const worlds: fc.Arbitrary<World> = started.map((world) =>
  Object.defineProperty({ ...world }, fc.toStringMethod, { value: () => describeWorld(world) }),
);
