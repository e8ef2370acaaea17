import { parseSessionEvent, serializeSessionEvent, type SessionEvent } from '@celestea/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { textRow } from '../src/text-row.ts';

/** Texts of any code units, and now and then what is no text. */
const field = fc.oneof(
  { weight: 8, arbitrary: fc.string({ unit: 'binary' }) },
  { weight: 2, arbitrary: fc.constantFrom('\ud800', '\u2028', undefined, null) },
  { weight: 1, arbitrary: fc.anything() },
);

const row = fc.record(
  {
    type: fc.constantFrom(
      'turn_start', 'turn_end', 'user_message', 'assistant_message', 'thinking_delta',
      'tool_call', 'tool_result', 'stranger',
    ),
    id: field, text: field, value: field, error: field, name: field, args: field,
    calls_follow: fc.oneof(fc.boolean(), field),
    abandoned: fc.oneof(fc.boolean(), field),
    meta: field, parent_id: field, surface: field, attachments: field, outcome: field,
  },
  { requiredKeys: ['type'] },
);

test('C4.4 a row of texts is what its line gives when it is read back', () => {
  let copied = 0;
  fc.assert(
    fc.property(row, (given) => {
      const copy = textRow(given as SessionEvent);
      if (copy === null) return;
      copied += 1;
      const line = serializeSessionEvent(copy);
      expect(parseSessionEvent(line)).toStrictEqual({ ok: true, event: copy });
      expect(line).toBe(serializeSessionEvent(given as SessionEvent));
    }),
    { numRuns: 2_000 },
  );
  expect(copied).toBeGreaterThan(100);
});

test.each<[string, SessionEvent]>([
  ['a start', { type: 'turn_start', id: 'turn-0' }],
  ['a question', { type: 'user_message', text: 'hi' }],
  ['a reply', { type: 'assistant_message', text: 'well', calls_follow: true }],
  ['thinking', { type: 'thinking_delta', text: 'hm' }],
  ['a result', { type: 'tool_result', id: 'a', value: 'x', error: null }],
  ['a failure', { type: 'tool_result', id: 'a', value: '', error: 'no', abandoned: true }],
])('C4.4 %s is a row of texts, and copied', (_title, given) => {
  expect(textRow(given)).toStrictEqual(given);
  expect(textRow(given)).not.toBe(given);
});

test('C4.4 a text that may be too long for a line is left to the line', () => {
  expect(textRow({ type: 'user_message', text: 'x'.repeat(2 ** 20 + 1) })).toBeNull();
});
