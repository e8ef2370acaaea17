import { expect, test } from 'vitest';

import {
  callTools,
  done,
  failingLlm,
  FakeSessionLog,
  FakeToolRegistry,
  HangingLlm,
  RecordingLlm,
  say,
  ScriptedLlm,
  steeringSource,
  testContext,
  think,
  thinkSigned,
} from '@celestea/agent-loop/testing';

const call = { id: 'a', name: 'time', args: { zone: 'UTC' } };

/** A kit used wrongly, as in plain JavaScript. */
const misused = (use: (odd: never) => unknown, odd: unknown) => () => use(odd as never);

test.each<[string, () => unknown, string]>([
  [
    'a script without its array',
    () => new ScriptedLlm(say('hi') as never),
    'scripts: expected an array of scripts, wrap it: [say(…)]; one is no array, got an object',
  ],
  [
    'an action without its array',
    misused((odd) => new ScriptedLlm(odd), [() => 1]),
    'scripts: expected an array of scripts, wrap it: [say(…)]; one is no array, got a function',
  ],
  [
    'a hole among the scripts',
    misused((odd) => new ScriptedLlm(odd), [say('hi'), undefined]),
    'scripts: expected an array of scripts, wrap it: [say(…)]; one is no array, got undefined',
  ],
  [
    'a text as scripts',
    misused((odd) => new ScriptedLlm(odd), 'hi'),
    'scripts: expected an array of scripts, got "hi"',
  ],
  [
    'no scripts',
    misused((odd) => new ScriptedLlm(odd), undefined),
    'scripts: expected an array of scripts, got undefined',
  ],
  ['no words', misused((odd) => say(odd), undefined), 'text: expected a string, got undefined'],
  ['no thought', misused((odd) => think(odd), 7), 'text: expected a string, got 7'],
  [
    'a signed nothing',
    misused((odd) => thinkSigned(odd, 1), null),
    'text: expected a string, got null',
  ],
  ['a call as words', misused((odd) => done(odd), call), 'text: expected a string, got an object'],
  [
    'a name as call',
    misused((odd) => callTools(odd), 'time'),
    'calls: expected { id, name, args }, got "time"',
  ],
  [
    'no call',
    misused((odd) => callTools(odd), undefined),
    'calls: expected { id, name, args }, got undefined',
  ],
  [
    'another way to fail',
    misused((odd) => failingLlm('x', odd), 'hang'),
    "how: expected 'reject' or 'throw', got \"hang\"",
  ],
  [
    'an event to hang after',
    misused((odd) => new HangingLlm(odd), think('hm')),
    'events: expected an array of stream events, got an object',
  ],
  [
    'no model to record',
    misused((odd) => new RecordingLlm(odd), undefined),
    'inner: expected a model with generate, got undefined',
  ],
  [
    'null to record',
    misused((odd) => new RecordingLlm(odd), null),
    'inner: expected a model with generate, got null',
  ],
  [
    'rows as options',
    misused((odd) => new FakeSessionLog(odd), []),
    'options: expected an object such as { rows: […] }, got an array',
  ],
  [
    'a log as rows',
    misused((odd) => new FakeSessionLog({ rows: odd }), {}),
    'rows: expected an array of session rows, got an object',
  ],
  [
    'a hook that is none',
    misused((odd) => new FakeSessionLog({ onFlush: odd }), 1),
    'onFlush: expected a function, got 1',
  ],
  [
    'a list of tools',
    misused((odd) => new FakeToolRegistry(odd), []),
    'tools: expected an object of functions, got an array',
  ],
  [
    'a tool that is none',
    misused((odd) => new FakeToolRegistry({ time: odd }), 'noon'),
    'tools.time: expected a function, got "noon"',
  ],
  [
    'a function to register',
    misused(
      (odd) => {
        new FakeToolRegistry().register(odd);
      },
      () => 1,
    ),
    'tool: expected a tool with spec and execute, got a function',
  ],
  [
    'a bare model as services',
    misused((odd) => testContext(odd), new HangingLlm()),
    'services: expected { llm, … }, got an object',
  ],
  [
    'no services',
    misused((odd) => testContext(odd), undefined),
    'services: expected { llm, … }, got undefined',
  ],
  [
    'a steering text',
    misused((odd) => steeringSource(odd), { text: 'go' }),
    'text: expected a string, got an object',
  ],
])('X16 %s is a TypeError that says what was expected', (_, use, message) => {
  expect(use).toThrow(new TypeError(message));
});
