import {
  assistantText,
  assistantToolCall,
  systemMessage,
  toolResultMessage,
  userMessage,
  userMessageWithImages,
  type Message,
} from '@celestea/core';
import { fitContext, trimContext, withMessageEstimator, type TrimResult } from '@celestea/agent-loop';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const RUNS = Number(process.env['CELESTEA_RUNS'] ?? 300);

const text = fc.string({ maxLength: 120 });
const message: fc.Arbitrary<Message> = fc.oneof(
  { weight: 4, arbitrary: text.map(userMessage) },
  { weight: 3, arbitrary: text.map(assistantText) },
  { weight: 1, arbitrary: text.map(systemMessage) },
  { weight: 2, arbitrary: text.map((id) => assistantToolCall({ id, name: 'look', args: { id } })) },
  { weight: 2, arbitrary: fc.tuple(text, text).map(([id, of]) => toolResultMessage(id, of)) },
);

/** A history as a log hands it out: it grows, and now and then a part of it is another one. */
const growth = fc.array(
  fc.record({
    added: fc.array(message, { maxLength: 6 }),
    replaced: fc.option(fc.record({ at: fc.nat(40), by: message })),
  }),
  { minLength: 1, maxLength: 8 },
);
const limits = fc.record({
  system: fc.nat(50),
  window: fc.integer({ min: 1, max: 1200 }),
  threshold: fc.constantFrom(0.5, 0.8, 1),
  keep: fc.nat(12),
});

type Limits = typeof limits extends fc.Arbitrary<infer T> ? T : never;
type Pass = (...args: Parameters<typeof trimContext>) => TrimResult;

/** What a pass gives, or how it fails. */
function given(pass: Pass, messages: readonly Message[], by: Limits): unknown {
  try {
    return pass(messages, by.system, by.window, by.threshold, by.keep);
  } catch (error) {
    return String(error);
  }
}

test.each<[string, Pass]>([
  ['trimContext', trimContext],
  ['fitContext', fitContext],
])('L5.8 X7 %s gives of a history that it knows what it gives of one that it never saw', (_, pass) => {
  fc.assert(
    fc.property(growth, limits, (steps, by) => {
      let history: Message[] = [];
      for (const { added, replaced } of steps) {
        history = [...history, ...added];
        if (replaced !== null && replaced.at < history.length) {
          history = history.with(replaced.at, replaced.by);
        }
        expect(given(pass, history, by)).toEqual(given(pass, structuredClone(history), by));
      }
    }),
    { numRuns: RUNS },
  );
});

test('L5.8 an estimator of a caller prices every message in each pass', () => {
  const messages = Array.from({ length: 20 }, (_, index) => userMessage(String(index)));
  trimContext(messages, 0, 10, 1, 5);
  let priced = 0;
  const count = (): number => {
    priced += 1;
    return 1;
  };
  for (let pass = 0; pass < 3; pass += 1) {
    withMessageEstimator(count, () => trimContext(messages, 0, 1000, 1, 5));
  }
  expect(priced).toBe(60);
});

test('L5.8 a history that grew costs the new messages alone', () => {
  let written = 0;
  const call = (id: string): Message =>
    assistantToolCall({
      id,
      name: 'look',
      args: {
        toJSON: () => {
          written += 1;
          return id;
        },
      },
    });
  let messages: Message[] = [userMessage('go')];
  for (let step = 0; step < 50; step += 1) {
    messages = [...messages, call(String(step)), toolResultMessage(String(step), 'seen')];
    trimContext(messages, 0, 1_000_000, 1, 5);
    expect(written).toBe(step + 1);
  }
});

test('L5.3 one price beyond all exactness does not blur those after it', () => {
  const huge = userMessageWithImages('', [
    { attachment_id: 'a'.repeat(64), media_type: 'image/png', width: 3e10, height: 1e10 },
  ]);
  const later = Array.from({ length: 40 }, (_, index) => userMessage(`number ${String(index)}`));
  for (let budget = 60; budget < 200; budget += 7) {
    const plain = trimContext([userMessage('x'.repeat(2_000)), ...later], 0, budget, 1, 99);
    const blurred = trimContext([huge, ...later], 0, budget, 1, 99);
    expect(blurred.outcome.removedMessages).toBeGreaterThan(1);
    const kept = plain.messages.length;
    // the longer number in its marker may cost a message
    expect([kept, kept - 1]).toContain(blurred.messages.length);
  }
});
