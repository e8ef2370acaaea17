import { isDeepStrictEqual } from 'node:util';

import { serdeJsonString, utf8Length, type Message } from '@celestea/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { ContextBudgetError, fitContext } from '../../src/context-fit.ts';
import { trimContext, trimmedMarkerMessage, type TrimResult } from '../../src/context-trim.ts';
import {
  estimateMessageTokens,
  withMessageEstimator,
  type MessageEstimator,
} from '../../src/tokens.ts';
import { histories, piece, textBlock, torn } from '../support/histories.ts';

const RUNS = Number(process.env['CELESTEA_RUNS'] ?? 1500);

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
const priceOf = (messages: readonly Message[], estimate: MessageEstimator): number =>
  sum(messages.map(estimate));
const hasCalls = ({ content }: Message): boolean =>
  content.some(({ type }) => type === 'tool_call');

const CUT_NOTICE = /\n\[context-trimmed\] (\d+) bytes left out to fit\n/g;

/** Whether a text is another one with its middle left out and counted to the byte. */
function isCutOf(text: string, whole: string): boolean {
  for (const [notice, bytes] of text.matchAll(CUT_NOTICE)) {
    const at = text.indexOf(notice);
    const head = text.slice(0, at);
    const tail = text.slice(at + notice.length);
    const left = utf8Length(whole) - utf8Length(head) - utf8Length(tail);
    if (whole.startsWith(head) && whole.endsWith(tail) && left === Number(bytes)) return true;
  }
  return false;
}

const textsBytes = ({ content }: Message): number =>
  sum(content.map((block) => (block.type === 'text' ? utf8Length(block.content) : 0)));

const resultNotice = (message: Message): string =>
  `[context-trimmed] result of ${String(textsBytes(message))} bytes left out to fit`;

const argsNotice = (args: unknown): string => {
  const bytes = String(utf8Length(serdeJsonString(args)));
  return `[context-trimmed] arguments of ${bytes} bytes left out to fit`;
};

/** Whether one message is the other, made smaller in the ways X7 allows. */
function isMadeOf(smaller: Message, whole: Message): boolean {
  if (smaller === whole) return true;
  if (smaller.role !== whole.role || smaller.tool_call_id !== whole.tool_call_id) return false;
  if (whole.role === 'system' || smaller.content.length !== whole.content.length) return false;
  return smaller.content.every((block, index) => {
    const from = whole.content[index];
    if (block === from) return true;
    if (block.type === 'text' && from?.type === 'text') {
      const isNotice = whole.role === 'tool' && block.content === resultNotice(whole);
      return isNotice || isCutOf(block.content, from.content);
    }
    if (block.type !== 'tool_call' || from?.type !== 'tool_call') return false;
    const { id, name, args, meta: signed } = from.content;
    if (signed !== undefined) return false;
    const made = { id, name, args: { notice: argsNotice(args) } };
    return isDeepStrictEqual(block.content, made);
  });
}

/** The messages that the made ones come from, in order; `null` when they are no such thing. */
function originsOf(made: readonly Message[], whole: readonly Message[]): Message[] | null {
  const origins: Message[] = [];
  let next = 0;
  for (const message of made) {
    while (next < whole.length && !isMadeOf(message, whole[next] ?? message)) next += 1;
    const origin = whole[next];
    if (origin === undefined) return null;
    origins.push(origin);
    next += 1;
  }
  return origins;
}

function expectAnswered(messages: readonly Message[]): void {
  const due: string[] = [];
  for (const { role, content, tool_call_id } of messages) {
    if (role === 'tool') expect(tool_call_id).toBe(due.shift());
    else expect(due).toEqual([]);
    due.push(...content.flatMap((b) => (b.type === 'tool_call' ? [b.content.id] : [])));
  }
  expect(due).toEqual([]);
}

interface Case {
  readonly messages: readonly Message[];
  readonly prompt: number;
  readonly budget: number;
  readonly keep: number;
}

const fit = ({ messages, prompt, budget, keep }: Case): TrimResult =>
  fitContext(messages, prompt, budget, 1, keep);

/** Everything that holds whatever the estimator says; gives the result, `null` for a refusal. */
function checkFit(of: Case, estimate: MessageEstimator): TrimResult | null {
  const { messages, prompt, budget } = of;
  const before = prompt + priceOf(messages, estimate);
  let result: TrimResult;
  try {
    result = withMessageEstimator(estimate, () => fit(of));
  } catch (error) {
    expect(error).toBeInstanceOf(ContextBudgetError);
    const { message } = error as Error;
    const [, needs] = /^context budget exceeded: .* needs (\d+) tokens/.exec(message) ?? [];
    expect(Number(needs)).toBeGreaterThan(budget);
    expect(message).toContain(`and the budget is ${String(budget)}`);
    if (estimate === tokens) expect(leastOf(of)).toBeGreaterThan(budget);
    return null;
  }
  const after = prompt + priceOf(result.messages, estimate);
  expect(after).toBeLessThanOrEqual(Math.min(budget, before));
  expectAnswered(result.messages);
  if (before <= budget) {
    expect(result.messages).toEqual(messages);
    expect(result.outcome).toEqual({ removedMessages: 0, removedTokens: 0, trimmed: false });
    return result;
  }
  const rest = messages.filter(({ role }) => role !== 'system');
  const kept = result.messages.filter(({ role }) => role !== 'system');
  expect(kept[0]?.role).toBe('user');
  const origins = originsOf(kept, rest);
  expect(origins, 'a part of the history, made smaller').not.toBeNull();
  const { removedMessages, removedTokens, trimmed } = result.outcome;
  expect(trimmed).toBe(true);
  expect(removedMessages).toBe(rest.length - kept.length);
  expect(removedTokens).toBe(priceOf(rest, estimate) - priceOf(origins ?? [], estimate));
  const marker = removedMessages > 0 ? [trimmedMarkerMessage(removedMessages, removedTokens)] : [];
  const system = messages.filter(({ role }) => role === 'system');
  expect(result.messages.slice(0, -kept.length)).toEqual([...system, ...marker]);
  const again = withMessageEstimator(estimate, () => fit({ ...of, messages: result.messages }));
  expect(again.messages).toEqual(result.messages);
  expect(again.outcome.trimmed).toBe(false);
  return result;
}

const tokens = estimateMessageTokens;
const withNotice = (message: Message): Message => ({
  ...message,
  content: [textBlock(resultNotice(message)), ...message.content.filter((b) => b.type !== 'text')],
});

/** A text is never cut to fewer bytes than this, its notice included. */
const LEAST_BYTES = 224;
const leastPrice = (message: Message): number =>
  tokens(message) -
  sum(
    message.content.map((block) =>
      block.type === 'text' && message.role !== 'system'
        ? Math.max(0, Math.floor((utf8Length(block.content) - LEAST_BYTES) / 4))
        : 0,
    ),
  );

const leastResult = (message: Message): number =>
  Math.min(tokens(withNotice(message)), leastPrice(message));

/** At most what is left when all has given: the newest user's message and the newest calls. */
function leastOf({ messages, prompt }: Case): number {
  const system = messages.filter(({ role }) => role === 'system');
  const rest = messages.filter(({ role }) => role !== 'system');
  const turn = rest.slice(rest.findLastIndex(({ role }) => role === 'user'));
  const newest = turn.findLastIndex(hasCalls);
  let older = false;
  const least = turn.map((message, index) => {
    if (message.role !== 'tool') older = hasCalls(message) && index < newest;
    if (older) return 0;
    if (message.role === 'tool') return leastResult(message);
    const args = message.content.map((block) =>
      block.type === 'tool_call' && block.content.meta === undefined
        ? Math.max(0, Math.floor((utf8Length(serdeJsonString(block.content.args)) - 100) / 4))
        : 0,
    );
    return leastPrice(message) + message.content.length - sum(args);
  });
  return prompt + priceOf(system, tokens) + 64 + sum(least);
}

/** Who gives, in which order, and how far (X7). */
function checkOrder(of: Case, result: TrimResult): void {
  const { messages, prompt, budget, keep } = of;
  if (prompt + priceOf(messages, tokens) <= budget) return;
  const plainly = trimContext(messages, prompt, budget, 1, keep);
  const over = prompt + priceOf(plainly.messages, tokens) - budget;
  if (over <= 0) {
    expect(result).toEqual(plainly);
    return;
  }
  const kept = result.messages.filter(({ role }) => role !== 'system');
  const origins = originsOf(kept, messages.filter(({ role }) => role !== 'system')) ?? [];
  const newest = kept.findLastIndex(hasCalls);
  const older = newest < 0 ? kept.length : newest;
  const gave = (index: number): boolean => kept[index] !== origins[index];
  const results = [...origins.keys()].filter((index) => {
    const whole = origins[index];
    const isResult = index < older && whole?.role === 'tool';
    return isResult && tokens(withNotice(whole)) < tokens(whole);
  });
  const left = results.findIndex((index) => !gave(index));
  const gaveAll = left < 0;
  if (!gaveAll) {
    // oldest first, and nothing but results gave; the last that did was needed
    expect(results.slice(left).some(gave)).toBe(false);
    expect([...kept.keys()].filter(gave)).toEqual(results.slice(0, left));
    expect(result.outcome.removedMessages).toBe(plainly.outcome.removedMessages);
    const last = results[left - 1] ?? -1;
    const restored = kept.map((message, index) => (index === last ? origins[index] : message));
    const whole = restored.filter((message) => message !== undefined);
    const fixed = result.messages.filter(({ role }) => role === 'system');
    expect(prompt + priceOf([...fixed, ...whole], tokens)).toBeGreaterThan(budget);
    return;
  }
  if (result.outcome.removedMessages > plainly.outcome.removedMessages) {
    const last = plainly.messages.findLastIndex(hasCalls);
    const least = plainly.messages.map((message, index) =>
      index < last && message.role === 'tool' ? leastResult(message) : leastPrice(message),
    );
    expect(prompt + sum(least), 'texts alone gave enough').toBeGreaterThan(budget);
    return;
  }
  const isCut = (message: Message, whole: Message | undefined): boolean =>
    message.content.some((block, index) => {
      const from = whole?.content[index];
      if (block.type !== 'text' || from?.type !== 'text' || block === from) return false;
      return block.content !== (whole === undefined ? '' : resultNotice(whole));
    });
  const cuts = kept.filter((message, index) => isCut(message, origins[index]));
  const newestArgs = newest >= 0 && gaveArguments(kept[newest]);
  if (cuts.length > 0 && !newestArgs) {
    const slack = budget - prompt - priceOf(result.messages, tokens);
    expect(slack, 'the last text gave no more than needed').toBeLessThanOrEqual(30);
  }
  if (newestArgs) {
    const longest = Math.max(...kept.flatMap(({ content }) =>
      content.map((block) => (block.type === 'text' ? utf8Length(block.content) : 0)),
    ));
    expect(longest, 'every text gave before the newest arguments').toBeLessThanOrEqual(LEAST_BYTES);
  }
}

const GIVEN_ARGUMENTS = '{"notice":"[context-trimmed] arguments';
const gaveArguments = (message: Message | undefined): boolean =>
  message?.content.some((block) => {
    if (block.type !== 'tool_call') return false;
    return serdeJsonString(block.content.args).startsWith(GIVEN_ARGUMENTS);
  }) ?? false;

const shareOf = fc.oneof(
  { arbitrary: fc.integer({ min: 0, max: 1050 }), weight: 4 },
  fc.integer({ min: 0, max: 200 }),
);
const casesOf = (unit: fc.Arbitrary<string>, estimate: MessageEstimator): fc.Arbitrary<Case> =>
  fc
    .record({
      messages: histories(unit),
      prompt: fc.constantFrom(0, 7, 60),
      share: shareOf,
      keep: fc.constantFrom(1, 2, 5, 10, 100),
    })
    .map(({ messages, prompt, share, keep }) => {
      const whole = prompt + priceOf(messages, estimate);
      return { messages, prompt, budget: Math.max(1, Math.floor((whole * share) / 1000)), keep };
    });

const LONE = /\p{Surrogate}/u;
const loneIn = (messages: readonly Message[]): boolean => LONE.test(JSON.stringify(messages));
const textsOf = (messages: readonly Message[]): string[] =>
  messages.flatMap(({ content }) => content.flatMap((b) => (b.type === 'text' ? [b.content] : [])));

describe('random histories', () => {
  test('X7 it fits or throws, answers every call, cuts at code points, as far as needed', () => {
    const seen = { whole: 0, plain: 0, fitted: 0, refused: 0 };
    fc.assert(
      fc.property(casesOf(piece, tokens), (of) => {
        const result = checkFit(of, tokens);
        if (result === null) {
          seen.refused += 1;
          return;
        }
        checkOrder(of, result);
        for (const text of textsOf(result.messages)) expect(LONE.test(text)).toBe(false);
        const plainly = trimContext(of.messages, of.prompt, of.budget, 1, of.keep);
        const over = of.prompt + priceOf(plainly.messages, tokens) > of.budget;
        if (!result.outcome.trimmed) seen.whole += 1;
        else if (over) seen.fitted += 1;
        else seen.plain += 1;
      }),
      { numRuns: RUNS },
    );
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(RUNS / 30); // in earnest
  });

  test('X7 texts with lone surrogates are cut and counted all the same', () => {
    fc.assert(
      fc.property(casesOf(fc.oneof(piece, torn), tokens), (of) => {
        const result = checkFit(of, tokens);
        if (result !== null) checkOrder(of, result);
      }),
      { numRuns: Math.ceil(RUNS / 3) },
    );
  });

  test.each<[string, MessageEstimator]>([
    ['twice the tokens', (message) => 2 * tokens(message)],
    ['one a message', () => 1],
    ['characters', ({ content }) => JSON.stringify(content).length],
    ['a third of the bytes and a lot a block', (m) => m.content.length * 50 + textsBytes(m)],
  ])('X7 under another estimator: %s', (_, estimate) => {
    let fitted = 0;
    fc.assert(
      fc.property(casesOf(piece, estimate), (of) => {
        const result = checkFit(of, estimate);
        if (result?.outcome.trimmed === true) fitted += 1;
      }),
      { numRuns: Math.ceil(RUNS / 4) },
    );
    expect(fitted).toBeGreaterThan(RUNS / 30);
  });

  test('X7 every budget from 1 to plenty', () => {
    const [messages] = fc.sample(
      histories(piece).filter((one) => one.length > 12 && priceOf(one, tokens) < 6000),
      { numRuns: 1, seed: 7 },
    );
    if (messages === undefined) throw new Error('no history');
    expect(loneIn(messages)).toBe(false);
    const plenty = priceOf(messages, tokens) + 3;
    let fits = false;
    for (let budget = 1; budget <= plenty; budget += 1) {
      const of = { messages, prompt: 2, budget, keep: 3 };
      const result = checkFit(of, tokens);
      if (fits) expect(result, `a larger budget fits too: ${String(budget)}`).not.toBeNull();
      fits = result !== null;
      if (result !== null) checkOrder(of, result);
    }
    expect(fits).toBe(true);
  });
});
