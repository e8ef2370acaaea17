import { createAgentLoop } from '@celestea/agent-loop';
import {
  done,
  FakeToolRegistry,
  ScriptedLlm,
  steeringSource,
  testContext,
  type Script,
} from '@celestea/agent-loop/testing';
import {
  defaultAgentConfig,
  serdeJsonString,
  type ImageRef,
  type SessionEvent,
  type SessionLog,
  type ToolCall,
} from '@celestea/core';
import fc from 'fast-check';

/** Values that no JSON can hold, or only just, by name: a failing world prints the names. */
const HOSTILE: Record<string, () => unknown> = {
  nothing: () => undefined,
  'not a number': () => NaN,
  'a bigint': () => 10n ** 30n,
  'a cycle': () => {
    const value: Record<string, unknown> = { a: 1 };
    value['self'] = value;
    return value;
  },
  'a getter that throws': () => ({
    get b(): never {
      throw new Error('no');
    },
    a: 1,
  }),
  'toJSON that throws': () => ({
    toJSON: (): never => {
      throw new Error('no');
    },
  }),
  'an own __proto__': (): unknown => JSON.parse('{"__proto__":{"polluted":true},"constructor":1}'),
  'lone surrogates': () => ({ '\ud83d': ['x\ude00', '\ud83d'] }),
  'line ends': () => 'a\nb\r\nc\u2028d\u2029e\u0000f',
  'a row': () => '{"type":"turn_start","id":"turn-99"}\n',
  'deep nesting': () => {
    let value: unknown = 1;
    for (let depth = 0; depth < 60; depth += 1) value = [value];
    return value;
  },
  holes: () => Array<number>(3),
  'pictures that are none': () => ({ attachments: [1, { attachment_id: 'x' }, null] }),
  'a picture': () => ({ text: 'seen', attachments: [PICTURE] }),
};

const PICTURE: ImageRef = {
  attachment_id: 'cd'.repeat(32),
  media_type: 'image/png',
  width: 4,
  height: 3,
};

/** Either plain JSON or the name of a hostile value. */
type ValuePlan = { json: unknown } | { hostile: string };

const valueOf = (plan: ValuePlan): unknown =>
  'json' in plan ? plan.json : HOSTILE[plan.hostile]?.();

/** `stop` cancels its turn and never settles; `missing` is no tool. */
type ToolName = 'echo' | 'fail' | 'stop' | 'missing';

interface StepPlan {
  readonly thinking: readonly { text: string; signed: ValuePlan | null }[];
  readonly words: string;
  readonly calls: readonly { id: string; name: ToolName; args: ValuePlan; signed: boolean }[];
  /** Whether the reply comes, and how its stream ends where it does not. */
  readonly end: 'done' | 'failed' | 'throws' | 'interrupted' | 'silent';
}

interface TurnPlan {
  readonly input: string | null;
  readonly picture: boolean;
  readonly steps: readonly StepPlan[];
  /** The event of the turn at which it is cancelled; `null` for none. */
  readonly cancelAt: number | null;
  readonly steering: readonly string[];
}

/** Turns that a loop runs into a log: the whole of it is data, and prints as such. */
export type World = readonly TurnPlan[];

const text = fc.constantFrom(
  ...['', ' ', 'a', 'go on', 'naïve — 漢字 😀', '\u2028', '"\\\n', '\ud83d', '{"type":"'],
);
const value: fc.Arbitrary<ValuePlan> = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }).map((json) => ({ json })),
  fc.constantFrom(...Object.keys(HOSTILE)).map((hostile) => ({ hostile })),
);

/**
 * A signature that no JSON can hold is none: without a text such a burst would be empty. What
 * is signed goes back verbatim, with the thoughts before it, so all of it is well-formed here.
 */
const thought = fc.tuple(text, fc.option(value, { freq: 2 })).map(([words, signed]) => {
  const signature = signed === null ? 'null' : serdeJsonString(valueOf(signed));
  const empty = signature === 'null' && words === '';
  const fits = !signature.includes('\\ud');
  return { text: empty ? 'hm' : words.toWellFormed(), signed: fits ? signed : { json: 'signed' } };
});

const step: fc.Arbitrary<StepPlan> = fc.record({
  thinking: fc.array(thought, { maxLength: 2 }),
  words: text,
  calls: fc.array(
    fc.record({
      id: fc.constantFrom('', 'a', 'b', 'é😀', 'call-turn-0-0'),
      name: fc.constantFrom<ToolName>('echo', 'echo', 'echo', 'fail', 'stop', 'missing'),
      args: value,
      signed: fc.boolean(),
    }),
    { maxLength: 3 },
  ),
  end: fc.constantFrom<StepPlan['end']>(
    ...(['done', 'done', 'done', 'done', 'failed', 'throws', 'interrupted', 'silent'] as const),
  ),
});

const turn: fc.Arbitrary<TurnPlan> = fc.record({
  input: fc.option(text, { freq: 8 }),
  picture: fc.boolean(),
  steps: fc.array(step, { maxLength: 3 }),
  cancelAt: fc.option(fc.nat(9), { freq: 1 }),
  steering: fc.array(text, { maxLength: 2 }),
});

/** A conversation starts with its user; later turns may be without a message. */
export const worlds: fc.Arbitrary<World> = fc
  .tuple(text, turn, fc.array(turn, { maxLength: 2 }))
  .map(([input, first, later]) => [{ ...first, input }, ...later]);

function scriptOf({ thinking, words: reply, calls, end }: StepPlan): Script {
  const thoughts = thinking.map(({ text: words, signed }) => {
    const meta = signed === null ? {} : { meta: valueOf(signed) };
    return { kind: 'thinking', text: words, ...meta } as const;
  });
  const spoken = reply === '' ? [] : [{ kind: 'text', text: reply } as const];
  const made = calls.map(({ id, name, args, signed }): ToolCall => {
    const meta = signed ? { meta: { signature: 'c2ln' } } : {};
    return { id, name, args: valueOf(args), ...meta };
  });
  switch (end) {
    case 'done':
      return [...thoughts, ...spoken, done(reply, ...made)];
    case 'failed':
      return [...thoughts, ...spoken, { kind: 'failed', message: 'overloaded', kindOf: 'stream' }];
    case 'throws':
      return [...thoughts, ...spoken, () => Promise.reject(new Error('torn'))];
    case 'interrupted':
      return [...thoughts, ...spoken, { kind: 'interrupted' }];
    case 'silent':
      return [...thoughts, ...spoken];
    default:
      return end satisfies never;
  }
}

/** Runs every turn of a world on a log; what it does is decided by the world alone. */
export async function play(world: World, log: SessionLog): Promise<void> {
  for (const { input, picture, steps, cancelAt, steering } of world) {
    const host = new AbortController();
    let events = 0;
    const tools = new FakeToolRegistry({
      echo: (args) => args,
      fail: () => {
        throw new Error('it failed \ud83d\n');
      },
      stop: () => {
        host.abort('stopped');
        return new Promise(() => undefined);
      },
    });
    const llm = new ScriptedLlm(steps.map(scriptOf));
    const loop = createAgentLoop(defaultAgentConfig({ max_parallel_tool_calls: 2 }), {
      injections: steeringSource(...steering),
      sink: () => {
        if (events === cancelAt) host.abort('cancelled');
        events += 1;
      },
    });
    await loop.runTurnOutcome(testContext({ llm, log, tools }), input, {
      signal: host.signal,
      attachments: picture ? [PICTURE] : [],
    });
  }
}

const id = fc.constantFrom('a', 'b', 'c', '', 'turn-0');
const turnId = fc.constantFrom('turn-0', 'turn-1', 'turn-7', 'turn-01', 'other', '');
const parent = fc.constantFrom({}, {}, {}, { parent_id: 'a' });
const surface = fc.constantFrom({}, {}, { surface: { kind: 'own' } });
const anything = value.map(valueOf);

/** Rows in any order: what another program, or a faulty one, may have written. */
export const foreignRows: fc.Arbitrary<SessionEvent[]> = fc.array(
  fc.oneof<fc.Arbitrary<SessionEvent>[]>(
    turnId.map((of) => ({ type: 'turn_start', id: of })),
    turnId.map((of) => ({ type: 'turn_end', id: of, outcome: 'completed' })),
    fc.tuple(text, fc.boolean()).map(([of, shown]) => ({
      ...{ type: 'user_message', text: of },
      ...(shown ? { attachments: [PICTURE] } : {}),
    })),
    fc.tuple(text, fc.boolean()).map(([of, follow]) => ({
      ...{ type: 'assistant_message', text: of },
      ...(follow ? { calls_follow: true } : {}),
    })),
    fc.tuple(text, anything).map(([of, meta]) => ({ type: 'thinking_delta', text: of, meta })),
    fc
      .tuple(id, anything, parent)
      .map(([of, args, under]) => ({ type: 'tool_call', id: of, name: 'echo', args, ...under })),
    fc
      .tuple(id, anything, fc.option(text), parent, surface)
      .map(([of, given, error, under, shown]) => ({
        ...{ type: 'tool_result', id: of, value: given, error },
        ...under,
        ...shown,
      })),
  ),
  { minLength: 1, maxLength: 14 },
);
