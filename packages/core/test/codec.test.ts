import { isDeepStrictEqual } from 'node:util';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { parseSessionEvent, serializeSessionEvent, type SessionEvent } from '@celestea/core';

import { picture, sessionEvent } from './support.ts';

const id0 = '0'.repeat(63);

const lines: [name: string, event: SessionEvent, line: string][] = [
  ['turn_start', { type: 'turn_start', id: 'turn-0' }, '{"type":"turn_start","id":"turn-0"}'],
  ['turn_end', { outcome: 'step_limit', id: 'turn-0', type: 'turn_end' },
    '{"type":"turn_end","id":"turn-0","outcome":"step_limit"}'],
  ['a failed turn_end',
    { type: 'turn_end', id: 't', outcome: { error: { message: 'm"\n', kind: 'stream' } } },
    '{"type":"turn_end","id":"t","outcome":{"error":{"kind":"stream","message":"m\\"\\n"}}}'],
  ['user_message', { text: 'hi', type: 'user_message' }, '{"type":"user_message","text":"hi"}'],
  ['user_message with pictures', {
    type: 'user_message',
    attachments: [
      {
        original: { media_type: 'image/webp', bytes: 9, height: 8, width: 7 },
        name: 'n',
        height: 2,
        width: 1,
        media_type: 'image/jpeg',
        attachment_id: 'a',
      },
      picture(5),
    ],
    text: '',
  },
  '{"type":"user_message","text":"","attachments":[{"attachment_id":"a",' +
    '"media_type":"image/jpeg","width":1,"height":2,"name":"n",' +
    '"original":{"width":7,"height":8,"bytes":9,"media_type":"image/webp"}},' +
    `{"attachment_id":"${id0}5","media_type":"image/png","width":640,"height":480}]}`],
  ['assistant_message', { text: 'yes\r\n\u2028', type: 'assistant_message' },
    '{"type":"assistant_message","text":"yes\\r\\n\\u2028"}'],
  ['thinking_delta', { type: 'thinking_delta', text: 'h\u2029m' },
    '{"type":"thinking_delta","text":"h\\u2029m"}'],
  ['tool_call', { args: { b: [{ z: 1, a: 2 }], a: 1 }, name: 'n', id: 'c', type: 'tool_call' },
    '{"type":"tool_call","id":"c","name":"n","args":{"a":1,"b":[{"a":2,"z":1}]}}'],
  ['a nested tool_call', { parent_id: 'p', type: 'tool_call', id: 'c', name: 'n', args: null },
    '{"type":"tool_call","id":"c","name":"n","args":null,"parent_id":"p"}'],
  ['a tool_call of odd keys', {
    type: 'tool_call',
    id: '\ud800',
    name: '\u2028',
    args: JSON.parse('{"\u2029":1,"__proto__":{"b":1,"a":"\\ude00"},"10":0,"9":0}'),
  },
  '{"type":"tool_call","id":"\\ud800","name":"\\u2028",' +
    '"args":{"10":0,"9":0,"__proto__":{"a":"\\ude00","b":1},"\\u2029":1}}'],
  ['tool_result', { error: null, value: { b: 1e21, a: 'x' }, id: 'c', type: 'tool_result' },
    '{"type":"tool_result","id":"c","value":{"a":"x","b":1e21},"error":null}'],
  ['a failed tool_result', { type: 'tool_result', id: 'c', value: null, error: 'no' },
    '{"type":"tool_result","id":"c","value":null,"error":"no"}'],
  ['a tool_result with everything', {
    surface: { z: 1, a: ['\u2028'] },
    parent_id: '',
    error: '',
    value: 0,
    id: '',
    type: 'tool_result',
  },
  '{"type":"tool_result","id":"","value":0,"error":"","parent_id":"",' +
    '"surface":{"a":["\\u2028"],"z":1}}'],
];

const additiveLines: typeof lines = [
  ['words before calls', { calls_follow: true, text: 'See:', type: 'assistant_message' },
    '{"type":"assistant_message","text":"See:","calls_follow":true}'],
  ['signed reasoning',
    { meta: { z: ['\u2028', 1e21], a: null }, text: 'hm', type: 'thinking_delta' },
    '{"type":"thinking_delta","text":"hm","meta":{"a":null,"z":["\\u2028",1e21]}}'],
  ['reasoning signed with what is falsy', { meta: '', text: '', type: 'thinking_delta' },
    '{"type":"thinking_delta","text":"","meta":""}'],
  ['a signed call', { meta: 0, args: {}, name: 'n', id: 'c', type: 'tool_call' },
    '{"type":"tool_call","id":"c","name":"n","args":{},"meta":0}'],
  ['a signed nested call',
    { meta: false, parent_id: 'p', args: 1, name: 'n', id: 'c', type: 'tool_call' },
    '{"type":"tool_call","id":"c","name":"n","args":1,"parent_id":"p","meta":false}'],
  ['an abandoned call',
    { abandoned: true, error: 'cancelled', value: null, id: 'c', type: 'tool_result' },
    '{"type":"tool_result","id":"c","value":null,"error":"cancelled","abandoned":true}'],
  ['a tool_result with every field', {
    abandoned: true,
    surface: { note: 'cut', kind: 'truncation' },
    parent_id: 'p',
    error: null,
    value: 1,
    id: 'c',
    type: 'tool_result',
  },
  '{"type":"tool_result","id":"c","value":1,"error":null,"parent_id":"p",' +
    '"surface":{"kind":"truncation","note":"cut"},"abandoned":true}'],
];

test.each(additiveLines)('C4.4 X9 X10 X17 writes %s, and reads it back', (_name, event, line) => {
  expect(serializeSessionEvent(event)).toBe(line);
  expect(parseSessionEvent(line)).toStrictEqual({ ok: true, event });
});

test.each<[name: string, event: object, line: string]>([
  ['a calls_follow that is not true', { type: 'assistant_message', text: 'a', calls_follow: false },
    '{"type":"assistant_message","text":"a"}'],
  ['an undefined calls_follow', { type: 'assistant_message', text: 'a', calls_follow: undefined },
    '{"type":"assistant_message","text":"a"}'],
  ['a meta of null', { type: 'thinking_delta', text: 'a', meta: null },
    '{"type":"thinking_delta","text":"a"}'],
  ['an undefined meta', { type: 'tool_call', id: 'c', name: 'n', args: 1, meta: undefined },
    '{"type":"tool_call","id":"c","name":"n","args":1}'],
  ['an abandoned that is not true',
    { type: 'tool_result', id: 'c', value: 1, error: null, abandoned: false },
    '{"type":"tool_result","id":"c","value":1,"error":null}'],
  ['what belongs to other rows',
    { type: 'user_message', text: 'a', calls_follow: true, meta: 1, abandoned: true },
    '{"type":"user_message","text":"a"}'],
])('C4.4 X9 X10 X17 does not write %s', (_name, event, line) => {
  expect(serializeSessionEvent(event as SessionEvent)).toBe(line);
});

test('X10 C4.4 a meta that no JSON can hold still makes a row', () => {
  const meta: Record<string, unknown> = { big: 5n, lone: '\ud800' };
  meta['self'] = meta;
  expect(serializeSessionEvent({ type: 'thinking_delta', text: 'a', meta })).toBe(
    '{"type":"thinking_delta","text":"a","meta":{"big":5,"lone":"\\ud800","self":null}}',
  );
});

test.each(lines)('C4.4 writes %s byte for byte, and reads it back', (_name, event, line) => {
  expect(serializeSessionEvent(event)).toBe(line);
  const parsed = parseSessionEvent(line);
  expect(parsed.ok).toBe(true);
  expect(isDeepStrictEqual(parsed, { ok: true, event })).toBe(true);
});

test.each<[name: string, event: SessionEvent, line: string]>([
  ['a missing outcome as completed', { type: 'turn_end', id: 't' },
    '{"type":"turn_end","id":"t","outcome":"completed"}'],
  ['no empty attachments', { type: 'user_message', text: 'a', attachments: [] },
    '{"type":"user_message","text":"a"}'],
  ['a value that is undefined', { type: 'tool_result', id: 'c', value: undefined, error: null },
    '{"type":"tool_result","id":"c","value":null,"error":null}'],
  ['args that are undefined', { type: 'tool_call', id: 'c', name: 'n', args: undefined },
    '{"type":"tool_call","id":"c","name":"n","args":null}'],
  ['a bigint as its digits', { type: 'tool_result', id: 'c', value: [5n], error: null },
    '{"type":"tool_result","id":"c","value":[5],"error":null}'],
  ['an empty surface', { type: 'tool_result', id: 'c', value: 1, error: null, surface: {} },
    '{"type":"tool_result","id":"c","value":1,"error":null,"surface":{}}'],
])('C4.4 writes %s', (_name, event, line) => {
  expect(serializeSessionEvent(event)).toBe(line);
});

test('C4.4 fields that belong to no row are not written', () => {
  const extra = { type: 'turn_start' as const, id: 't', stray: 1, text: 'x' };
  expect(serializeSessionEvent(extra)).toBe('{"type":"turn_start","id":"t"}');
  const ref = { ...picture(1), bytes: 'AAAA', width: 3 };
  expect(serializeSessionEvent({ type: 'user_message', text: '', attachments: [ref] })).toBe(
    '{"type":"user_message","text":"","attachments":[{"attachment_id":' +
      `"${id0}1","media_type":"image/png","width":3,"height":480}]}`,
  );
  const outcome = { error: { kind: 'generate' as const, message: 'm', stack: 's' }, more: 1 };
  expect(serializeSessionEvent({ type: 'turn_end', id: 't', outcome })).toBe(
    '{"type":"turn_end","id":"t","outcome":{"error":{"kind":"generate","message":"m"}}}',
  );
});

test('C4.4 a value that no JSON can hold still makes a row', () => {
  const value: Record<string, unknown> = { b: 1 };
  value['a'] = value;
  expect(serializeSessionEvent({ type: 'tool_result', id: 'c', value, error: null })).toBe(
    '{"type":"tool_result","id":"c","value":{"a":null,"b":1},"error":null}',
  );
});

test('C4.4 very deep arguments are written and read back', () => {
  const depth = 100_000;
  let args: unknown = 'core';
  for (let level = 0; level < depth; level += 1) args = [args];
  const line = serializeSessionEvent({ type: 'tool_call', id: 'c', name: 'n', args });
  const parsed = parseSessionEvent(line);
  expect(parsed.ok).toBe(true);
  if (parsed.ok) expect(serializeSessionEvent(parsed.event) === line).toBe(true);
});

test('C4.4 any row survives the round trip in one line, type first', () => {
  fc.assert(
    fc.property(sessionEvent, (event) => {
      const line = serializeSessionEvent(event);
      expect(/[\n\r\u2028\u2029]/.test(line)).toBe(false);
      expect(line.startsWith(`{"type":"${event.type}","`)).toBe(true);
      const parsed = parseSessionEvent(line);
      expect(isDeepStrictEqual(parsed, { ok: true, event })).toBe(true);
      if (parsed.ok) expect(serializeSessionEvent(parsed.event)).toBe(line);
    }),
    { numRuns: 500 },
  );
});

test('C4.4 a line survives UTF-8, lone surrogates included', () => {
  fc.assert(
    fc.property(sessionEvent, (event) => {
      const line = serializeSessionEvent(event);
      expect(new TextDecoder().decode(new TextEncoder().encode(line))).toBe(line);
    }),
    { numRuns: 200 },
  );
});
