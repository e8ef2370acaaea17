import {
  assistantText,
  assistantToolCall,
  messageText,
  systemMessage,
  toolResultMessage,
  userMessage,
  userMessageWithImages,
  type Message,
  type Role,
} from '@celestea/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { contextBudget, trimContext, trimmedMarkerMessage } from '../src/context-trim.ts';
import {
  estimateMessageTokens,
  withMessageEstimator,
  type MessageEstimator,
} from '../src/tokens.ts';

const ROLE_OF: Record<string, Role> = { s: 'system', u: 'user', a: 'assistant', t: 'tool' };

/** Messages from a line such as `s2 u5 a3`: who, and the price it has with {@link byPrice}. */
function history(line: string): Message[] {
  const words = line === '' ? [] : line.split(' ');
  return words.map((word) => ({
    role: ROLE_OF[word.slice(0, 1)] ?? 'user',
    content: [{ type: 'text', content: word }],
    tool_call_id: word.startsWith('t') ? 'call' : null,
  }));
}

const MARKER = /^\[context-trimmed\] (\d+) message\(s\), ~(\d+) tokens/;

/** The line of messages; a marker is shown as `[<messages>~<tokens>]`. */
const line = (messages: readonly Message[]): string =>
  messages
    .map((message) => messageText(message) ?? '?')
    .map((text) => text.replace(MARKER, '[$1~$2]').replace(/\].*/s, ']'))
    .join(' ');

const byPrice =
  (marker: number): MessageEstimator =>
  (message) => {
    const text = messageText(message) ?? '';
    return MARKER.test(text) ? marker : Number(text.slice(1));
  };

/** Why, the history, the window, how many to keep, what is kept, and what else is set. */
type Case = [why: string, of: string, window: number, keep: number, gives: string, more?: More];

interface More {
  prompt?: number;
  threshold?: number;
  /** The price of a marker. */
  marker?: number;
}

/** A table as it is: only for its type. */
const table = (...cases: Case[]): Case[] => cases;

function check(...[, of, window, keep, gives, more = {}]: Case): void {
  const { prompt = 0, threshold = 1, marker = 1 } = more;
  const pass = () => trimContext(history(of), prompt, window, threshold, keep);
  expect(line(withMessageEstimator(byPrice(marker), pass).messages)).toBe(gives);
}

describe('the budget', () => {
  test.each([
    [100, 1, 100],
    [100, 0.8, 80],
    [19, 0.5, 9],
    [1, 0.5, 1],
    [100, 0, 1],
    [100, -3, 1],
    [100, 7, 100],
    [100, -Infinity, 1],
    [100, Infinity, 100],
    [100, NaN, 100],
    [0, 1, null],
    [0, NaN, null],
    [Infinity, 0.5, Infinity],
    [Infinity, 0, 1],
  ])('L5.3 window %d at threshold %d is %s', (window, threshold, budget) => {
    expect(contextBudget(window, threshold)).toBe(budget);
  });

  const whole = 's1 u3 a2 u3 a1';
  test.each(
    table(
      ['as much as the budget', whole, 10, 1, whole],
      ['one over', whole, 9, 1, 's1 [2~5] u3 a1'],
      ['half a window', whole, 21, 1, whole, { threshold: 0.5 }],
      ['the fraction is dropped', whole, 19, 1, 's1 [2~5] u3 a1', { threshold: 0.5 }],
      ['the prompt counts', whole, 10, 1, 's1 [2~5] u3 a1', { prompt: 1 }],
      ['no trimming', whole, 0, 1, whole, { prompt: 9 }],
      ['never below one token', 'u1', 9, 1, 'u1', { threshold: 0 }],
      ['an empty history', '', 9, 1, '', { prompt: 50 }],
    ),
  )('L5.3 within budget or not: %s', check);

  test('L5.3 within budget the messages stay where they are, also the system ones', () => {
    const messages = history('u1 s1 a1 s1');
    const result = withMessageEstimator(byPrice(1), () => trimContext(messages, 0, 4, 1, 1));
    expect(result).toEqual({
      messages,
      outcome: { removedMessages: 0, removedTokens: 0, trimmed: false },
    });
  });
});

describe('where it cuts', () => {
  test.each(
    table(
      ['system first', 'u5 s1 a5 u5 s2 a5', 15, 1, 's1 s2 [2~10] u5 a5'],
      ['nobody to start at', 'a5 s1 t5 a5', 2, 1, 's1 a5 t5 a5'],
      ['nothing before the start', 'u5 s1 a5', 2, 1, 's1 u5 a5'],
      ['system alone', 's5 s6', 2, 1, 's5 s6'],
      ['a group stays whole', 'u5 a5 t5 u5 a5 t5', 16, 1, '[3~15] u5 a5 t5'],
      ['too big to start inside', 'u5 a5 t5 t5 t5', 11, 2, 'u5 a5 t5 t5 t5'],
      ['orphans go', 't5 a5 u5', 10, 3, '[2~10] u5'],
    ),
  )('L5.4 system messages lead and only a user starts the rest: %s', check);

  const even = 'u5 a5 u5 a5 u5 a5';
  const heavy = 'u5 a5 u5 a50';
  test.each(
    table(
      ['both, recent is later', even, 26, 2, '[4~20] u5 a5'],
      ['both, fitting is later', even, 12, 4, '[4~20] u5 a5'],
      ['both, the same', even, 21, 4, '[2~10] u5 a5 u5 a5'],
      ['recent alone, the first', 'u5 a5 u5 u50', 20, 2, '[2~10] u5 u50'],
      ['fitting alone', 'u5 a5 u5 a5', 12, 1, '[2~10] u5 a5'],
      ['neither: the last', heavy, 20, 1, '[2~10] u5 a50'],
      ['keep NaN is 1', 'u5 u5 u5', 11, NaN, '[2~10] u5'],
      ['keep 0 is 1', 'u5 u5 u5', 11, 0, '[2~10] u5'],
      ['keep -5 is 1', 'u5 u5 u5', 11, -5, '[2~10] u5'],
      ['keep 2.5 rounds nothing', 'u5 u5 u5 u5', 19, 2.5, '[2~10] u5 u5'],
      ['keep all, one fits', even, 12, Infinity, '[4~20] u5 a5'],
      ['keep all, none fits', even, 3, Infinity, even],
      ['keep counts no system', 'u5 u5 u5 s1 s1', 16, 2, 's1 s1 [1~5] u5 u5'],
    ),
  )('L5.5 which suffix is kept: %s', check);

  const three = 'u5 u5 u5';
  const tail = '[2~10] u5';
  test.each(
    table(
      ['just fits', three, 14, 9, '[1~5] u5 u5', { marker: 4 }],
      ['the marker', three, 14, 9, tail, { marker: 5 }],
      ['the prompt', three, 14, 9, tail, { prompt: 1, marker: 4 }],
      ['a system message', `${three} s1`, 14, 9, `s1 ${tail}`, { marker: 4 }],
      ['a free marker', three, 10, 9, '[1~5] u5 u5', { marker: 0 }],
      ['a dear marker', three, 14, 9, three, { marker: 99 }],
    ),
  )('L5.6 what is sent is what has to fit: %s', check);
});

describe('the marker', () => {
  test('L5.7 stands between the system messages and the rest, and says what was cut', () => {
    const messages = [
      userMessage('one, of sixteen.'),
      systemMessage('Be brief.'),
      assistantText('four'),
      userMessage('and now?'),
    ];
    const { messages: kept, outcome } = trimContext(messages, 0, 16, 1, 1);
    expect(outcome).toEqual({ removedMessages: 2, removedTokens: 13, trimmed: true });
    expect(kept[0]).toBe(messages[1]);
    expect(kept[1]).toEqual({
      role: 'system',
      content: [
        {
          type: 'text',
          content:
            '[context-trimmed] 2 message(s), ~13 tokens, of the earlier conversation were cut to ' +
            'fit the context window. If you need details from them, ask the user.',
        },
      ],
      tool_call_id: null,
    });
    expect(kept[2]).toBe(messages[3]);
    expect(kept).toHaveLength(3);
  });

  test('L5.7 takes at most 64 tokens for counts below a million', () => {
    expect(estimateMessageTokens(trimmedMarkerMessage(999_999, 999_999))).toBeLessThanOrEqual(64);
    const count = fc.integer({ min: 0, max: 999_999 });
    fc.assert(
      fc.property(count, count, (removed, tokens) => {
        const marker = trimmedMarkerMessage(removed, tokens);
        const text = messageText(marker) ?? '';
        expect(text.startsWith('[context-trimmed]')).toBe(true);
        expect(text).toContain(`${String(removed)} message(s)`);
        expect(text).toContain(`~${String(tokens)} tokens`);
        expect(estimateMessageTokens(marker)).toBeLessThanOrEqual(64);
      }),
    );
  });

  test.each([1e200, 1e12])('L5.7 a picture of %d pixels a side hides no cut tokens', (side) => {
    const media_type = 'image/png';
    const size = { width: side, height: side };
    const picture = { attachment_id: 'ab'.repeat(32), media_type, ...size } as const;
    const messages = [
      userMessage('four'),
      assistantText('four'),
      userMessageWithImages('look', [picture]),
    ];
    const { messages: kept, outcome } = trimContext(messages, 0, 1000, 1, 1);
    expect(outcome).toEqual({ removedMessages: 2, removedTokens: 10, trimmed: true });
    expect(line(kept)).toBe('[2~10] look');
  });
});

/** Counts how often each message is priced; markers apart. */
function counting(inner: MessageEstimator): {
  estimate: MessageEstimator;
  counts: Map<Message, number>;
  markers: () => number;
} {
  const counts = new Map<Message, number>();
  let markers = 0;
  const estimate: MessageEstimator = (message) => {
    if (MARKER.test(messageText(message) ?? '')) markers += 1;
    else counts.set(message, (counts.get(message) ?? 0) + 1);
    return inner(message);
  };
  return { estimate, counts, markers: () => markers };
}

describe('what a pass costs', () => {
  test('L5.8 within budget each message is priced once, with trimming off never', () => {
    const messages = history('s1 u2 a3 u4 a5');
    const within = counting(byPrice(1));
    withMessageEstimator(within.estimate, () => trimContext(messages, 0, 15, 1, 1));
    expect(messages.map((message) => within.counts.get(message))).toEqual([1, 1, 1, 1, 1]);
    expect(within.markers()).toBe(0);
    const off = counting(byPrice(1));
    withMessageEstimator(off.estimate, () => trimContext(messages, 0, 0, 1, 1));
    expect(off.counts.size + off.markers()).toBe(0);
  });

  test.each([1000, 2000, 4000, 8000])('L5.8 over budget each of %d is priced once', (size) => {
    const messages = history('u5 a5'.concat(' u5 a5'.repeat(size / 2 - 1)));
    const { estimate, counts, markers } = counting(byPrice(40));
    withMessageEstimator(estimate, () => trimContext(messages, 0, size, 1, 10));
    expect(counts.size).toBe(size);
    expect([...new Set(counts.values())]).toEqual([1]);
    expect(markers()).toBe(5); // starts that fit but for the marker, then the one that fits
  });

  test('L5.8 a marker that fits nowhere is priced at most once a start', () => {
    const messages = history('u1 u1 u1 u1 u1 u1');
    const { estimate, counts, markers } = counting(byPrice(1000));
    withMessageEstimator(estimate, () => trimContext(messages, 0, 5, 1, 1));
    expect([...counts.values()]).toEqual([1, 1, 1, 1, 1, 1]);
    expect(markers()).toBe(5);
  });
});

test('L5.9 nothing is changed and the arrays are fresh, whatever the case', () => {
  const messages = frozen(history('s1 u5 a5 u5 a5'));
  for (const [window, expected] of [
    [0, 's1 u5 a5 u5 a5'],
    [21, 's1 u5 a5 u5 a5'],
    [13, 's1 [2~10] u5 a5'],
    [1, 's1 [2~10] u5 a5'],
  ] as const) {
    const pass = () => trimContext(messages, 0, window, 1, 1);
    const first = withMessageEstimator(byPrice(1), pass);
    expect(first.messages).not.toBe(messages);
    first.messages.length = 0;
    first.outcome.removedMessages = 77;
    const second = withMessageEstimator(byPrice(1), pass);
    expect(line(second.messages)).toBe(expected);
    expect(second.outcome.removedMessages).not.toBe(77);
  }
  const stuck = frozen(history('s1 a5'));
  expect(trimContext(stuck, 0, 1, 1, 1).messages).not.toBe(stuck);
});

/** The same value, frozen at every depth. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  Object.values(value).forEach(frozen);
  return Object.freeze(value);
}

/** L5.2 from its text, with Node's own UTF-8 and JSON. */
function slowTokens({ content, tool_call_id }: Message): number {
  const tokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4);
  let sum = 4 + (tool_call_id === null ? 0 : tokens(tool_call_id));
  for (const block of content) {
    if (block.type === 'text') sum += tokens(block.content);
    else if (block.type === 'tool_call') {
      sum += 10 + tokens(block.content.name) + tokens(JSON.stringify(block.content.args));
    } else if (block.type === 'image') {
      sum += 85 + Math.ceil((block.content.width * block.content.height) / 750);
    } else {
      sum += tokens(block.content.text) + tokens(JSON.stringify(block.content.meta));
    }
  }
  return sum;
}

/** L5.3 to L5.7 from their text, each candidate scored anew. */
function slowTrim(
  messages: readonly Message[],
  prompt: number,
  window: number,
  threshold: number,
  keep: number,
): { messages: Message[]; removed: number; tokens: number; within: boolean } {
  const price = (list: readonly Message[]): number =>
    list.reduce((sum, message) => sum + slowTokens(message), 0);
  const whole = { messages: [...messages], removed: 0, tokens: 0, within: true };
  if (window === 0) return whole;
  const share = Number.isNaN(threshold) ? 1 : Math.max(0, Math.min(1, threshold));
  const budget = share === 0 ? 1 : Math.max(1, Math.floor(window * share));
  if (prompt + price(messages) <= budget) return whole;
  const system = messages.filter(({ role }) => role === 'system');
  const others = messages.filter(({ role }) => role !== 'system');
  const sent = (cut: number): Message[] =>
    cut === 0
      ? [...system, ...others]
      : [...system, trimmedMarkerMessage(cut, price(others.slice(0, cut))), ...others.slice(cut)];
  const starts = [...others.keys()].filter((index) => others[index]?.role === 'user');
  const recent = others.length - Math.max(1, Number.isNaN(keep) ? 1 : keep);
  const a = starts.find((start) => start >= recent);
  const b = starts.find((start) => prompt + price(sent(start)) <= budget);
  const both = a !== undefined && b !== undefined;
  const cut = both ? Math.max(a, b) : (a ?? b ?? starts.at(-1) ?? 0);
  const tokens = price(others.slice(0, cut));
  return { messages: sent(cut), removed: cut, tokens, within: false };
}

const text = fc.oneof(
  fc.string({ maxLength: 60, unit: 'binary' }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
    .map((units) => String.fromCharCode(...units)),
);
const picture = fc.record({
  attachment_id: fc.constant('ab'.repeat(32)),
  media_type: fc.constant('image/png' as const),
  width: fc.integer({ min: 1, max: 400 }),
  height: fc.integer({ min: 1, max: 400 }),
});
const anyMessage: fc.Arbitrary<Message> = fc.oneof(
  text.map(systemMessage),
  { arbitrary: text.map(userMessage), weight: 3 },
  fc.tuple(text, fc.array(picture, { maxLength: 1 })).map((of) => userMessageWithImages(...of)),
  text.map(assistantText),
  fc
    .record({ id: fc.string(), name: fc.string(), args: fc.dictionary(text, fc.integer()) })
    .map(assistantToolCall),
  fc.tuple(fc.string({ maxLength: 9 }), text).map((of) => toolResultMessage(...of)),
);
const odd = fc.constantFrom(NaN, 0, -0, -1, -Infinity, Infinity, 0.5, 2.5);
const settings = fc.record({
  messages: fc.array(anyMessage, { maxLength: 25 }),
  prompt: fc.oneof(fc.constant(0), fc.nat(60)),
  window: fc.oneof({ arbitrary: fc.nat(900), weight: 6 }, fc.constant(Infinity)),
  threshold: fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true }), odd),
  keep: fc.oneof(fc.nat(30), odd, fc.double()),
});

test('L5.3 L5.4 L5.5 L5.6 L5.7 L5.8 L5.9 agree with a slow reading of the rules', () => {
  let cuts = 0;
  fc.assert(
    fc.property(settings, ({ messages, prompt, window, threshold, keep }) => {
      frozen(messages);
      const { estimate, counts } = counting(estimateMessageTokens);
      const { messages: kept, outcome } = withMessageEstimator(estimate, () =>
        trimContext(messages, prompt, window, threshold, keep),
      );
      const slow = slowTrim(messages, prompt, window, threshold, keep);
      expect(kept).toEqual(slow.messages);
      expect(outcome).toEqual({
        removedMessages: slow.removed,
        removedTokens: slow.tokens,
        trimmed: slow.removed > 0,
      });
      expect(kept).not.toBe(messages);
      const strangers = kept.filter((message) => !messages.includes(message));
      expect(strangers).toHaveLength(outcome.trimmed ? 1 : 0);
      const within = slow.within;
      for (const message of messages) {
        const count = counts.get(message) ?? 0;
        if (within) expect(count).toBe(window === 0 ? 0 : 1);
        else expect([1, 2]).toContain(count);
      }
      cuts += slow.removed > 0 ? 1 : 0;
    }),
    { numRuns: 1500 },
  );
  expect(cuts).toBeGreaterThan(100); // it was tried in earnest
});
