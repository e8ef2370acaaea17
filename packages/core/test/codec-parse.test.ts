import fc from 'fast-check';
import { expect, expectTypeOf, test } from 'vitest';

import { parseSessionEvent, type ParsedSessionEvent, type SessionEvent } from '@celestea/core';

import { picture } from './support.ts';

test('C4.4 the result is a row or the reasons why there is none', () => {
  expectTypeOf<ParsedSessionEvent>().toEqualTypeOf<
    { ok: true; event: SessionEvent } | { ok: false; errors: string[] }
  >();
  expectTypeOf(parseSessionEvent).parameters.toEqualTypeOf<[string]>();
});

test.each(['', ' ', '{', '{"type":"turn_start","id":"t"}{}', 'turn', '{"type":"turn_start",}'])(
  'C4.4 a line that is no JSON is an error: %j',
  (line) => {
    const parsed = parseSessionEvent(line);
    expect(parsed.ok).toBe(false);
    if (parsed.ok) return;
    expect(parsed.errors).toHaveLength(1);
    expect(parsed.errors[0]).toMatch(/^not JSON: .+/);
  },
);

test.each<[line: string, ...errors: string[]]>([
  ['null', 'expected a JSON object, got null'],
  ['[]', 'expected a JSON object, got an array'],
  ['5', 'expected a JSON object, got 5'],
  ['"turn_start"', 'expected a JSON object, got "turn_start"'],
  ['true', 'expected a JSON object, got true'],
  ['{}', 'missing type'],
  ['{"id":"t"}', 'missing type'],
  ['{"type":null}', 'type: expected a string, got null'],
  ['{"type":5,"id":"t"}', 'type: expected a string, got 5'],
  ['{"type":["turn_start"],"id":"t"}', 'type: expected a string, got an array'],
  ['{"type":"turn_begin","id":"t"}', 'unknown type "turn_begin"'],
  ['{"type":"","id":"t"}', 'unknown type ""'],
  ['{"type":"__proto__"}', 'unknown type "__proto__"'],
  ['{"type":"toString"}', 'unknown type "toString"'],
  ['{"type":"Turn_start","id":"t"}', 'unknown type "Turn_start"'],
  ['{"__proto__":{"type":"turn_start","id":"t"}}', 'missing type'],
])('C4.4 no row of the log: %s', (line, ...errors) => {
  expect(parseSessionEvent(line)).toStrictEqual({ ok: false, errors });
});

const image = JSON.stringify(picture(1));
const end = '{"type":"turn_end","id":"t","outcome"';
const user = '{"type":"user_message","text":"a","attachments"';
const call = '{"type":"tool_call","id":"c","name":"n","args":1';
const result = '{"type":"tool_result","id":"c","value":1,"error":null';
const said = '{"type":"assistant_message","text":"a","calls_follow"';
const noOutcome = 'outcome: expected a turn outcome, got';

test.each<[line: string, ...errors: string[]]>([
  ['{"type":"turn_start"}', 'missing id'],
  ['{"type":"turn_start","id":null}', 'id: expected a string, got null'],
  ['{"type":"turn_start","id":7}', 'id: expected a string, got 7'],
  ['{"type":"turn_start","id":{}}', 'id: expected a string, got an object'],
  ['{"type":"turn_start","__proto__":{"id":"t"}}', 'missing id'],
  ['{"type":"turn_end"}', 'missing id'],
  ['{"type":"turn_end","id":false}', 'id: expected a string, got false'],
  [`${end}:"error"}`, `${noOutcome} "error"`],
  [`${end}:""}`, `${noOutcome} ""`],
  [`${end}:5}`, `${noOutcome} 5`],
  [`${end}:["completed"]}`, `${noOutcome} an array`],
  [`${end}:{}}`, `${noOutcome} an object`],
  [`${end}:{"error":null}}`, `${noOutcome} an object`],
  [`${end}:{"error":{"kind":"stream"}}}`, `${noOutcome} an object`],
  [`${end}:{"error":{"kind":"timeout","message":"m"}}}`, `${noOutcome} an object`],
  [`${end}:{"error":{"kind":"stream","message":1}}}`, `${noOutcome} an object`],
  ['{"type":"user_message"}', 'missing text'],
  ['{"type":"user_message","text":["a"]}', 'text: expected a string, got an array'],
  [`${user}:{}}`, 'attachments: expected an array, got an object'],
  [`${user}:"a"}`, 'attachments: expected an array, got "a"'],
  [`${user}:[${image},null,5]}`, 'attachments[1]: expected an image reference, got null',
    'attachments[2]: expected an image reference, got 5'],
  ['{"type":"assistant_message"}', 'missing text'],
  ['{"type":"assistant_message","text":null}', 'text: expected a string, got null'],
  ['{"type":"thinking_delta"}', 'missing text'],
  ['{"type":"thinking_delta","text":0}', 'text: expected a string, got 0'],
  ['{"type":"tool_call"}', 'missing id', 'missing name', 'missing args'],
  ['{"type":"tool_call","id":"c","name":"n"}', 'missing args'],
  ['{"type":"tool_call","id":"c","args":1}', 'missing name'],
  ['{"type":"tool_call","name":"n","args":1}', 'missing id'],
  ['{"type":"tool_call","id":1,"name":2,"args":3}', 'id: expected a string, got 1',
    'name: expected a string, got 2'],
  [`${call},"parent_id":5}`, 'parent_id: expected a string, got 5'],
  [`${call},"parent_id":{}}`, 'parent_id: expected a string, got an object'],
  ['{"type":"tool_result"}', 'missing id', 'missing value', 'missing error'],
  ['{"type":"tool_result","id":"c","value":1}', 'missing error'],
  ['{"type":"tool_result","id":"c","error":null}', 'missing value'],
  ['{"type":"tool_result","value":1,"error":null}', 'missing id'],
  [result.replace('null', 'false') + '}', 'error: expected a string, got false'],
  [result.replace('null', '{}') + '}', 'error: expected a string, got an object'],
  [`${result},"parent_id":[]}`, 'parent_id: expected a string, got an array'],
  [`${result},"surface":"s"}`, 'surface: expected an object, got "s"'],
  [`${result},"surface":[]}`, 'surface: expected an object, got an array'],
  ['{"type":"assistant_message","calls_follow":true}', 'missing text'],
  [`${said}:"true"}`, 'calls_follow: expected a boolean, got "true"'],
  [`${said}:1}`, 'calls_follow: expected a boolean, got 1'],
  [`${said}:[true]}`, 'calls_follow: expected a boolean, got an array'],
  [`${said}:{}}`, 'calls_follow: expected a boolean, got an object'],
  ['{"type":"thinking_delta","meta":{}}', 'missing text'],
  ['{"type":"tool_call","id":"c","name":"n","meta":1}', 'missing args'],
  [`${result},"abandoned":"yes"}`, 'abandoned: expected a boolean, got "yes"'],
  [`${result},"abandoned":0}`, 'abandoned: expected a boolean, got 0'],
  [`${result},"surface":5,"abandoned":{}}`, 'surface: expected an object, got 5',
    'abandoned: expected a boolean, got an object'],
])('C4.4 X9 X10 X17 a missing or wrong field is an error: %s', (line, ...errors) => {
  expect(parseSessionEvent(line)).toStrictEqual({ ok: false, errors });
});

const original = { width: 1, height: 2, bytes: 3, media_type: 'image/gif' };

test.each<[name: string, ref: unknown]>([
  ['an array', []],
  ['empty', {}],
  ['without id', { ...picture(1), attachment_id: undefined }],
  ['with an id of a wrong type', { ...picture(1), attachment_id: 1 }],
  ['without media type', { ...picture(1), media_type: undefined }],
  ['with another media type', { ...picture(1), media_type: 'image/svg+xml' }],
  ['without width', { ...picture(1), width: undefined }],
  ['with a width of null', { ...picture(1), width: null }],
  ['with a height of text', { ...picture(1), height: '480' }],
  ['with a name of a wrong type', { ...picture(1), name: 5 }],
  ['with an original of text', { ...picture(1), original: 'x' }],
  ['with an original in an array', { ...picture(1), original: [original] }],
  ['with an original without width', { ...picture(1), original: { ...original, width: null } }],
  ['with an original without height', { ...picture(1), original: { ...original, height: null } }],
  ['with an original without bytes', { ...picture(1), original: { ...original, bytes: null } }],
  ['with an original of no type', { ...picture(1), original: { ...original, media_type: 'x' } }],
])('C4.4 an image reference %s is an error', (_name, ref) => {
  const parsed = parseSessionEvent(`${user}:[${JSON.stringify(ref)}]}`);
  const came = Array.isArray(ref) ? 'an array' : 'an object';
  expect(parsed).toStrictEqual({
    ok: false,
    errors: [`attachments[0]: expected an image reference, got ${came}`],
  });
});

test('C4.4 a number too large to be one is no width', () => {
  const huge = image.replace('640', '1e999');
  expect(parseSessionEvent(`${user}:[${huge}]}`).ok).toBe(false);
});

test.each<[line: string, event: SessionEvent]>([
  [`${end}:null}`, { type: 'turn_end', id: 't' }],
  ['{"type":"turn_end","id":"t"}', { type: 'turn_end', id: 't' }],
  [`${user}:null}`, { type: 'user_message', text: 'a' }],
  [`${user}:[]}`, { type: 'user_message', text: 'a' }],
  [`${call},"parent_id":null}`, { type: 'tool_call', id: 'c', name: 'n', args: 1 }],
  [`${result},"parent_id":null,"surface":null}`,
    { type: 'tool_result', id: 'c', value: 1, error: null }],
  [`${said}:null}`, { type: 'assistant_message', text: 'a' }],
  [`${said}:false}`, { type: 'assistant_message', text: 'a' }],
  ['{"type":"thinking_delta","text":"a","meta":null}', { type: 'thinking_delta', text: 'a' }],
  [`${call},"meta":null}`, { type: 'tool_call', id: 'c', name: 'n', args: 1 }],
  [`${result},"abandoned":null}`, { type: 'tool_result', id: 'c', value: 1, error: null }],
  [`${result},"abandoned":false}`, { type: 'tool_result', id: 'c', value: 1, error: null }],
  ['{"type":"tool_call","id":"","name":"","args":null}',
    { type: 'tool_call', id: '', name: '', args: null }],
  ['{"type":"tool_result","id":"c","value":null,"error":""}',
    { type: 'tool_result', id: 'c', value: null, error: '' }],
])('C4.4 X9 X10 X17 null and absent optionals read as absent: %s', (line, event) => {
  expect(parseSessionEvent(line)).toStrictEqual({ ok: true, event });
});

test('C4.4 null for what an image reference may leave out reads as absent', () => {
  const ref = JSON.stringify({ ...picture(1), name: null, original: null });
  expect(parseSessionEvent(`${user}:[${ref}]}`)).toStrictEqual({
    ok: true,
    event: { type: 'user_message', text: 'a', attachments: [picture(1)] },
  });
});

test.each<[line: string, event: SessionEvent]>([
  ['{"x":1,"type":"turn_start","id":"t","outcome":5}', { type: 'turn_start', id: 't' }],
  ['{"type":"turn_end","id":"t","x":1}', { type: 'turn_end', id: 't' }],
  ['{"type":"user_message","text":"a","id":5}', { type: 'user_message', text: 'a' }],
  ['{"type":"assistant_message","text":"a","attachments":5}',
    { type: 'assistant_message', text: 'a' }],
  ['{"type":"thinking_delta","text":"a","x":[]}', { type: 'thinking_delta', text: 'a' }],
  [`${call},"surface":5,"__proto__":{"x":1}}`,
    { type: 'tool_call', id: 'c', name: 'n', args: 1 }],
  ['{"type":"user_message","text":"a","calls_follow":5,"meta":1,"abandoned":"x"}',
    { type: 'user_message', text: 'a' }],
  [`${result},"meta":{},"calls_follow":5}`,
    { type: 'tool_result', id: 'c', value: 1, error: null }],
  ['{"type":"turn_start","__proto__":{"meta":1},"id":"t"}', { type: 'turn_start', id: 't' }],
  ['{"type":"thinking_delta","text":"a","__proto__":{"meta":1}}',
    { type: 'thinking_delta', text: 'a' }],
  [`${said.replace('calls_follow', '__proto__')}:{"calls_follow":true}}`,
    { type: 'assistant_message', text: 'a' }],
  [`${result},"name":5}`, { type: 'tool_result', id: 'c', value: 1, error: null }],
  [`${user}:[${image.replace('}', ',"bytes":"AAAA"}')}]}`,
    { type: 'user_message', text: 'a', attachments: [picture(1)] }],
])('C4.4 unknown fields are ignored: %s', (line, event) => {
  expect(parseSessionEvent(line)).toStrictEqual({ ok: true, event });
});

test('C4.4 white space around a row and the order of its fields do not matter', () => {
  expect(parseSessionEvent(' {"id" : "t" ,\t"type":"turn_start"}\r\n')).toStrictEqual({
    ok: true,
    event: { type: 'turn_start', id: 't' },
  });
});

const types = [
  'turn_end',
  'user_message',
  'assistant_message',
  'thinking_delta',
  'tool_call',
  'tool_result',
];

test('C4.4 no line makes the parser throw, and no failure is without a reason', () => {
  const line = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    fc
      .tuple(fc.constantFrom(...types), fc.object())
      .map(([type, row]) => JSON.stringify({ id: 't', ...row, type })),
  );
  fc.assert(
    fc.property(line, (text) => {
      const parsed = parseSessionEvent(text);
      if (!parsed.ok) expect(parsed.errors.length).toBeGreaterThan(0);
    }),
  );
});

test.each([
  ['type', 'turn_start', '{"id":"t3","error":null}'],
  ['id', 'turn-0', '{"type":"turn_start","at":1}'],
  ['text', 'hi', '{"type":"user_message","at":1}'],
  ['outcome', 'completed', '{"type":"turn_end","id":"t","at":1}'],
  ['args', {}, '{"type":"tool_call","id":"c","name":"n","at":1}'],
  ['value', 1, '{"type":"tool_result","id":"c","error":null,"at":1}'],
  ['error', null, '{"type":"tool_result","id":"c","value":1,"at":1}'],
])('C4.4 what somebody gave to all objects is no field of a row: %s', (name, value, line) => {
  const clean = parseSessionEvent(line);
  Object.defineProperty(Object.prototype, name, { value, configurable: true });
  const parsed = parseSessionEvent(line);
  Reflect.deleteProperty(Object.prototype, name);
  expect(parsed).toEqual(clean);
});
