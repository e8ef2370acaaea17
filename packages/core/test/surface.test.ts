import fc from 'fast-check';
import { expect, test } from 'vitest';

import {
  cutMiddle,
  deriveMessagesFrom,
  messageTexts,
  parseSessionEvent,
  renderOmitted,
  serdeJsonString,
  serializeSessionEvent,
  utf8Length,
  type OmittedSurface,
  type SessionEvent,
  type ToolSurface,
} from '@celestea/core';

import { jsonRecord, jsonValue, picture } from './support.ts';

/** What the model reads of a result. */
function shown(result: { value: unknown; error?: string | null; surface?: unknown }): string {
  const { value, error = null, surface } = result;
  const rows = [
    { type: 'tool_call', id: 'a', name: 'n', args: null },
    { type: 'tool_result', id: 'a', value, error, surface },
  ] as SessionEvent[];
  const [, answer] = deriveMessagesFrom(rows);
  return answer === undefined ? '' : (messageTexts(answer)[0] ?? '');
}

/** The surface of a text cut to these sizes, as a retention writes it. */
function omitted(text: string, headBytes: number, tailBytes: number): OmittedSurface | null {
  const cut = cutMiddle(text, headBytes, tailBytes);
  if (cut === null) return null;
  return {
    kind: 'omitted',
    omitted_bytes: cut.omittedBytes,
    total_bytes: cut.totalBytes,
    locator: 'spill/a.txt',
    retrieval_hint: 'Read it with read_file.',
    head_bytes: utf8Length(cut.head),
    tail_bytes: utf8Length(cut.tail),
  };
}

const text = 'one é two \u{1f600} three';
const surface: OmittedSurface = {
  kind: 'omitted',
  omitted_bytes: 12,
  total_bytes: 21,
  locator: 'spill/a.txt',
  retrieval_hint: 'Read it with read_file.',
  head_bytes: 4,
  tail_bytes: 5,
};
const view =
  'one \n[12 of 21 bytes left out; the whole result is at spill/a.txt. ' +
  'Read it with read_file.]\nthree';

test('X12 the middle of a text is left out: head, an exact notice with the locator, tail', () => {
  expect(omitted(text, 4, 5)).toEqual(surface);
  expect(renderOmitted(text, surface)).toBe(view);
  expect(shown({ value: text, surface })).toBe(view);
});

test('X12 the row keeps the original, and a replay of the log reads the same', () => {
  const row: SessionEvent = { type: 'tool_result', id: 'a', value: text, error: null, surface };
  const line = serializeSessionEvent(row);
  const parsed = parseSessionEvent(line);
  expect(parsed).toEqual({ ok: true, event: row });
  const call: SessionEvent = { type: 'tool_call', id: 'a', name: 'n', args: null };
  const replayed = deriveMessagesFrom([call, ...(parsed.ok ? [parsed.event] : [])]);
  expect(replayed).toStrictEqual(deriveMessagesFrom([call, row]));
  expect(replayed[1]?.content).toEqual([{ type: 'text', content: view }]);
});

test('X12 any text is seen as the cut that its surface names, and as well-formed Unicode', () => {
  const unit = fc.oneof(
    fc.constantFrom('a', 'é', '漢', '\u{1f600}', '\n'),
    fc.constantFrom('\ud83d', '\ude00'),
  );
  const long = fc.array(unit, { maxLength: 30 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(long, fc.nat(20), fc.nat(20), (value, headBytes, tailBytes) => {
      const cut = cutMiddle(value, headBytes, tailBytes);
      const own = omitted(value, headBytes, tailBytes);
      if (cut === null || own === null) return;
      const notice =
        `[${String(cut.omittedBytes)} of ${String(Buffer.byteLength(value))} bytes left out; ` +
        'the whole result is at spill/a.txt. Read it with read_file.]';
      const seen = `${cut.head}\n${notice}\n${cut.tail}`.toWellFormed();
      expect(shown({ value, surface: own })).toBe(seen);
    }),
    { numRuns: 500 },
  );
});

test.each<[name: string, value: unknown, text: string]>([
  ['a text', 'a"b', '"a\\"b"\ncut after 3 rows'],
  ['an object', { b: 1, a: 2 }, '{"a":2,"b":1}\ncut after 3 rows'],
  ['null', null, 'null\ncut after 3 rows'],
])('X12 a tool that cut %s itself says so after it', (_name, value, expected) => {
  expect(shown({ value, surface: { kind: 'truncation', note: 'cut after 3 rows' } })).toBe(
    expected,
  );
});

test('X12 a failure is told as it is, whatever surface stands beside it', () => {
  expect(shown({ value: text, error: 'no', surface })).toBe('Error: no');
  expect(shown({ value: text, error: '', surface })).toBe(view);
  const truncation = { kind: 'truncation', note: 'cut' };
  expect(shown({ value: text, error: 'no', surface: truncation })).toBe('Error: no');
});

test('X12 pictures of a value stand after what is seen of it', () => {
  const value = { attachments: [picture(1)] };
  const truncation: ToolSurface = { kind: 'truncation', note: 'cut' };
  const [, answer] = deriveMessagesFrom([
    { type: 'tool_call', id: 'a', name: 'n', args: null },
    { type: 'tool_result', id: 'a', value, error: null, surface: truncation },
  ]);
  expect(answer?.content).toStrictEqual([
    { type: 'text', content: `${serdeJsonString(value)}\ncut` },
    { type: 'image', content: picture(1) },
  ]);
});

test.each<[name: string, value: unknown]>([
  ['an object', { text }],
  ['an array', [text]],
  ['a number', 5],
  ['null', null],
  ['a text in an object that pretends to be one', { toString: () => text }],
])('X12 an omitted surface over %s is no view of it', (_name, value) => {
  expect(shown({ value, surface })).toBe(serdeJsonString(value));
});

test.each<[name: string, damaged: unknown]>([
  ['empty', {}],
  ['without a kind', { ...surface, kind: undefined }],
  ['of another kind', { ...surface, kind: 'folded' }],
  ['of a kind that is no text', { ...surface, kind: ['omitted'] }],
  ['without omitted_bytes', { ...surface, omitted_bytes: undefined }],
  ['with omitted_bytes of text', { ...surface, omitted_bytes: '12' }],
  ['with omitted_bytes that are not what is left out', { ...surface, omitted_bytes: 11 }],
  ['with negative omitted_bytes', { ...surface, omitted_bytes: -12 }],
  ['with total_bytes of null', { ...surface, total_bytes: null }],
  ['with total_bytes of another text', { ...surface, total_bytes: 2100 }],
  ['with infinite total_bytes', { ...surface, total_bytes: Infinity }],
  ['with head_bytes that are no number', { ...surface, head_bytes: { toString: null } }],
  ['with head_bytes of NaN', { ...surface, head_bytes: NaN }],
  ['with infinite head_bytes', { ...surface, head_bytes: Infinity }],
  ['with negative head_bytes', { ...surface, head_bytes: -1, omitted_bytes: 16 }],
  ['with negative tail_bytes', { ...surface, tail_bytes: -1, omitted_bytes: 17 }],
  ['with sizes that keep all of it', { ...surface, head_bytes: 21 }],
  ['with sizes that take each other back', { ...surface, head_bytes: 40, tail_bytes: -30 }],
  ['without a locator', { ...surface, locator: undefined }],
  ['with a locator of a number', { ...surface, locator: 5 }],
  ['with a hint of null', { ...surface, retrieval_hint: null }],
  ['that is a truncation without a note', { kind: 'truncation' }],
  ['that is a truncation with a note of a wrong type', { kind: 'truncation', note: 5 }],
  ['that is null', null],
  ['that is a text', 'omitted'],
  ['that is a number', 5],
  ['that is an array', [surface]],
])('X12 a damaged surface %s shows the whole value and throws nothing', (_name, damaged) => {
  expect(shown({ value: text, surface: damaged })).toBe(serdeJsonString(text));
  expect(renderOmitted(text, damaged as ToolSurface)).toBe(null);
  expect(shown({ value: { a: 1 }, surface: damaged })).toBe('{"a":1}');
});

test('X12 a hand-edited log never throws: one field of a surface is anything', () => {
  const edited = fc.oneof(
    jsonRecord,
    fc
      .tuple(fc.constantFrom(...Object.keys(surface)), jsonValue)
      .map(([key, value]) => ({ ...surface, [key]: value })),
  );
  const whole = serdeJsonString(text);
  fc.assert(
    fc.property(edited, (damaged) => {
      const row = { type: 'tool_result', id: 'a', value: text, error: null, surface: damaged };
      const parsed = parseSessionEvent(JSON.stringify(row));
      expect(parsed.ok).toBe(true);
      if (!parsed.ok || parsed.event.type !== 'tool_result') return;
      const seen = shown({ value: text, surface: parsed.event.surface });
      const isNotice = seen.startsWith('one \n[12 of 21 bytes left out; the whole result is at ');
      expect(seen === whole || (isNotice && seen.endsWith('\nthree'))).toBe(true);
    }),
    { numRuns: 500 },
  );
});
