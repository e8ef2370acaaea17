import { defaultAgentConfig } from '@celestea/core';
import { describe, expect, test } from 'vitest';

import { DefaultAgentLoop } from '../src/loop.ts';
import {
  checkBindings,
  checkConfig,
  checkInput,
  resolveOptions,
  type AgentLoopBindings,
  type TurnOptions,
} from '../src/options.ts';
import { agentLoopPlugin, createAgentLoop } from '../src/plugin.ts';
import { collectingSink, say, ScriptedLlm, testContext } from '../src/testing/index.ts';
import { createUsageTracker } from '../src/usage.ts';

const WRONG: [bindings: unknown, message: string][] = [
  [null, 'bindings: expected an object, got null'],
  ['sink', 'bindings: expected an object, got "sink"'],
  [7, 'bindings: expected an object, got 7'],
  [() => undefined, 'bindings: expected an object, got a function'],
  [[], 'bindings: expected an object, got an array'],
  [
    { signal: { aborted: false, addEventListener: 1, removeEventListener: 1 } },
    'signal: expected an AbortSignal, got an object',
  ],
  [
    { signal: { aborted: false, addEventListener: () => undefined } },
    'signal: expected an AbortSignal, got an object',
  ],
  [{ signal: new EventTarget() }, 'signal: expected an AbortSignal, got an object'],
  [{ usage: { record: () => undefined } }, 'usage: expected a UsageTracker, got an object'],
  [{ usage: { record: 1 } }, 'usage: expected a UsageTracker, got an object'],
  [{ signal: null }, 'signal: expected an AbortSignal, got null'],
  [{ signal: 'abort' }, 'signal: expected an AbortSignal, got "abort"'],
  [{ signal: {} }, 'signal: expected an AbortSignal, got an object'],
  [{ signal: { aborted: false } }, 'signal: expected an AbortSignal, got an object'],
  [{ signal: new AbortController() }, 'signal: expected an AbortSignal, got an object'],
  [{ signal: false }, 'signal: expected an AbortSignal, got false'],
  [{ sink: null }, 'sink: expected a function, got null'],
  [{ sink: {} }, 'sink: expected a function, got an object'],
  [{ sink: [] }, 'sink: expected a function, got an array'],
  [{ sink: 'x'.repeat(41) }, 'sink: expected a function, got a string'],
  [{ sink: NaN }, 'sink: expected a function, got NaN'],
  [{ usage: null }, 'usage: expected a UsageTracker, got null'],
  [{ usage: {} }, 'usage: expected a UsageTracker, got an object'],
  [{ usage: Symbol('usage') }, 'usage: expected a UsageTracker, got a symbol'],
  [{ usage: 12n }, 'usage: expected a UsageTracker, got a bigint'],
  [{ usage: () => undefined }, 'usage: expected a UsageTracker, got a function'],
  [{ injections: [] }, 'injections: expected an InjectionSource, got an array'],
  [{ injections: { pending: () => 0 } }, 'injections: expected an InjectionSource, got an object'],
  [{ contextPolicy: {} }, 'contextPolicy: expected a function, got an object'],
  [{ prepareStep: 'each' }, 'prepareStep: expected a function, got "each"'],
  [{ onDiagnostic: true }, 'onDiagnostic: expected a function, got true'],
  [{ timeouts: 500 }, 'timeouts: expected an object, got 500'],
  [{ timeouts: null }, 'timeouts: expected an object, got null'],
  [{ timeouts: { toolMs: NaN } }, 'timeouts.toolMs: expected milliseconds, 0 or more, got NaN'],
  [{ timeouts: { toolMs: -1 } }, 'timeouts.toolMs: expected milliseconds, 0 or more, got -1'],
  [{ timeouts: { toolMs: '9' } }, 'timeouts.toolMs: expected milliseconds, 0 or more, got "9"'],
  [
    { timeouts: { streamIdleMs: null } },
    'timeouts.streamIdleMs: expected milliseconds, 0 or more, got null',
  ],
];

const config = defaultAgentConfig();

const titled = WRONG.map(([bindings, message]) => ({ bindings, message }));

/** How a caller without types gets in. */
const entries: [string, (bindings: unknown) => void][] = [
  ['the class', (bindings) => void Reflect.construct(DefaultAgentLoop, [config, bindings])],
  ['the function', (bindings) => void Reflect.apply(createAgentLoop, null, [config, bindings])],
  ['the plugin', (bindings) => void Reflect.apply(agentLoopPlugin, null, [config, bindings])],
  ['the check', (bindings) => void Reflect.apply(checkBindings, null, [bindings])],
];

describe.each(entries)('X1 a wrong binding is a TypeError of %s', (_, enter) => {
  test.each(titled)('$message', ({ bindings, message }) => {
    expect(() => {
      enter(bindings);
    }).toThrow(new TypeError(message));
  });
});

test.each([null, undefined, [], 'deepseek-chat'])('a config that is no object: %j', (wrong) => {
  expect(() => {
    Reflect.apply(createAgentLoop, null, [wrong]);
  }).toThrow(/^config: expected an object, got /);
});

const NUMBERS = [
  ...['max_steps', 'max_parallel_tool_calls', 'context_window_tokens'],
  ...['context_trim_threshold', 'context_keep_recent'],
];

test.each([
  ...['model', 'system_prompt'].map((name) => ({ name, wrong: 7, expected: 'a string, got 7' })),
  ...NUMBERS.map((name) => ({ name, wrong: '7', expected: 'a number, got "7"' })),
])('a config whose $name is $wrong', ({ name, wrong, expected }) => {
  expect(() => {
    Reflect.apply(checkConfig, null, [{ [name]: wrong }]);
  }).toThrow(new TypeError(`config.${name}: expected ${expected}`));
});

test.each<[input: unknown, came: string]>([
  [undefined, 'undefined'],
  [7, '7'],
  [['go'], 'an array'],
])('X1 an input that is neither text nor null: %j', (input, came) => {
  expect(() => {
    checkInput(input);
  }).toThrow(new TypeError(`userInput: expected a string or null, got ${came}`));
});

test('X1 the signals and sinks of a turn are those that were given, and no empty places', () => {
  expect(resolveOptions({}, undefined)).toMatchObject({ signals: [], sinks: [] });
  const { sink } = collectingSink();
  const { signal } = new AbortController();
  expect(resolveOptions({}, { signal, sink })).toMatchObject({ signals: [signal], sinks: [sink] });
});

test('the first wrong binding is named, and nothing was provided', () => {
  const wrong = { usage: 1, sink: 2, signal: 3 };
  expect(() => {
    Reflect.apply(createAgentLoop, null, [config, wrong]);
  }).toThrow(new TypeError('signal: expected an AbortSignal, got 3'));
});

test('bindings that fit are taken, an absent one as undefined or left out', () => {
  const { sink } = collectingSink();
  const { signal } = new AbortController();
  const usage = createUsageTracker();
  const noTypes: unknown = { signal: undefined, sink: undefined, usage: undefined };
  for (const bindings of [{}, { signal }, { sink }, { usage }, { signal, sink, usage }, noTypes]) {
    expect(Reflect.apply(checkBindings, null, [bindings])).toBe(bindings);
  }
  expect(Reflect.construct(DefaultAgentLoop, [config])).toBeInstanceOf(DefaultAgentLoop);
});

test('X1 a turn knows the bindings and attachments, and nothing else', () => {
  const own: Exclude<keyof TurnOptions, keyof AgentLoopBindings>[] = ['attachments'];
  const missing: Exclude<keyof AgentLoopBindings, keyof TurnOptions>[] = [];
  expect([...own, ...missing]).toEqual(['attachments']);
});

test('bindings are read once: a change afterwards changes no turn', async () => {
  const kept = collectingSink();
  const late = collectingSink();
  const bindings = { sink: kept.sink };
  const loop = createAgentLoop(config, bindings);
  bindings.sink = late.sink;
  await loop.runTurn(testContext({ llm: new ScriptedLlm([say('Hi.')]) }), 'Hello.');
  expect(late.events).toEqual([]);
  expect(kept.events.map(({ kind }) => kind)).toEqual(['text', 'done', 'turn_end']);
});
