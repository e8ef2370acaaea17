import {
  assistantText,
  assistantToolCall,
  systemMessage,
  toolResultMessage,
  toolResultWithImages,
  userMessage,
  type ImageRef,
  type Message,
  type ToolCall,
} from '@celestea/core';
import {
  estimateMessageTokens,
  fitContext,
  withMessageEstimator,
  type TrimResult,
} from '@celestea/agent-loop';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const RUNS = Number(process.env['CELESTEA_RUNS'] ?? 300);

/** Its price is beyond the integers that come out even when they are summed. */
const HUGE: ImageRef = {
  attachment_id: 'a'.repeat(64),
  media_type: 'image/png',
  width: 3e10,
  height: 1e10,
};

const text = fc.oneof(fc.string({ maxLength: 12 }), fc.string({ maxLength: 400 }));

/** Messages with calls, with their results after them; now and then a signed call or some words. */
const group: fc.Arbitrary<Message[]> = fc
  .array(fc.record({ argument: text, result: text, signed: fc.boolean(), picture: fc.nat(60) }), {
    minLength: 1,
    maxLength: 4,
  })
  .chain((calls) =>
    fc.option(text).map((words): Message[] => {
      const content: Message['content'] = calls.map(({ argument, signed }, index) => {
        const call: ToolCall = { id: `c${String(index)}`, name: 'look', args: { argument } };
        if (signed) call.meta = 'signature';
        return { type: 'tool_call', content: call };
      });
      if (words !== null) content.unshift({ type: 'text', content: words });
      const results = calls.map(({ result, picture }, index) =>
        picture === 0
          ? toolResultWithImages(`c${String(index)}`, result, [HUGE])
          : toolResultMessage(`c${String(index)}`, result),
      );
      return [{ role: 'assistant', content, tool_call_id: null }, ...results];
    }),
  );

const part: fc.Arbitrary<Message[]> = fc.oneof(
  { weight: 12, arbitrary: group },
  { weight: 1, arbitrary: text.map((of) => [userMessage(of)]) },
  { weight: 1, arbitrary: text.map((of) => [assistantText(of)]) },
  { weight: 1, arbitrary: text.map((of) => [systemMessage(of)]) },
);

const world = fc.record({
  parts: fc.array(part, { minLength: 1, maxLength: 40 }),
  budget: fc.integer({ min: 60, max: 2_000 }),
  prompt: fc.nat(40),
  keep: fc.nat(20),
});

function given(fit: () => TrimResult): unknown {
  try {
    return fit();
  } catch (error) {
    return String(error);
  }
}

test('X7 what is dropped at once is what would be dropped one by one', () => {
  let dropped = 0;
  fc.assert(
    fc.property(world, ({ parts, budget, prompt, keep }) => {
      const messages = [userMessage('go'), ...parts.flat()];
      const fit = (): TrimResult => fitContext(messages, prompt, budget, 1, keep);
      const atOnce = given(fit);
      // an estimator of the caller's is no price to keep sums of: each message is looked into
      const oneByOne = given(() =>
        withMessageEstimator((message) => estimateMessageTokens(message), fit),
      );
      expect(atOnce).toEqual(oneByOne);
      if (typeof atOnce === 'object') dropped += 1;
    }),
    { numRuns: RUNS },
  );
  expect(dropped).toBeGreaterThan(RUNS / 4);
});

test('X7 by the prices of another estimator nothing is dropped ahead of what they say', () => {
  const loops = Array.from({ length: 50 }, (_, index): Message[] => {
    const id = String(index);
    return [assistantToolCall({ id, name: 'look', args: {} }), toolResultMessage(id, 'seen')];
  });
  const messages = [userMessage('go'), ...loops.flat()];
  const freeNotices = ({ content }: Message): number =>
    JSON.stringify(content).includes('[context-trimmed]') ? 0 : 10;
  const { outcome } = withMessageEstimator(freeNotices, () => fitContext(messages, 0, 600, 1, 1));
  expect(outcome).toEqual({ removedMessages: 0, removedTokens: 0, trimmed: true });
});

test('X7 a turn that has outgrown its window costs what the window holds, not the history', () => {
  let looks = 0;
  const watched = (message: Message): Message =>
    new Proxy(message, {
      get: (of, name, receiver): unknown => {
        looks += 1;
        return Reflect.get(of, name, receiver);
      },
    });
  const messages: Message[] = [userMessage('go')];
  const looksAt = (step: number): number => {
    const id = String(step);
    const call: ToolCall = { id, name: 'look', args: { path: 'x'.repeat(200) } };
    const asked: Message = {
      role: 'assistant',
      content: [{ type: 'tool_call', content: call }],
      tool_call_id: null,
    };
    messages.push(watched(asked), watched(toolResultMessage(id, 'seen '.repeat(60))));
    looks = 0;
    fitContext(messages, 0, 1_500, 1, 1);
    return looks;
  };
  const perStep = Array.from({ length: 600 }, (_, step) => looksAt(step));
  const early = Math.max(...perStep.slice(100, 300));
  expect(early).toBeGreaterThan(0);
  expect(Math.max(...perStep.slice(300))).toBeLessThanOrEqual(early);
});
