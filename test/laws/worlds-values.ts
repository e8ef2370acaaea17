/** Values that JSON cannot say, by name: each is made anew where it is used. */
import type { ToolInput } from '@celestea/core';

const boom = (): never => {
  throw new RangeError('a getter that throws');
};

const cycle = (): unknown => {
  const self: Record<string, unknown> = { name: 'round' };
  self['self'] = self;
  return self;
};

const deep = (): unknown => {
  let value: unknown = 'bottom';
  for (let depth = 0; depth < 3000; depth += 1) value = [value];
  return value;
};

/** What tools give back. */
export const VALUES = {
  text: () => 'a result',
  empty: () => '',
  nothing: () => undefined,
  null: () => null,
  number: () => Number.NaN,
  object: () => ({ b: 1, a: [true] }),
  cycle,
  bigint: () => 5n,
  getter: () => ({ get a(): never { return boom(); } }),
  toJSON: () => ({ toJSON: boom }),
  lone: () => 'torn \ud83d',
  loneKey: () => ({ '\ude00': '\ud83d' }),
  huge: () => '漢字😀'.repeat(900),
  function: () => boom,
  symbol: () => Symbol('a result'),
  map: () => new Map([[1, 2]]),
  deep,
  pictures: () => ({ attachments: [null, { attachment_id: 7 }] }),
} satisfies Record<string, () => unknown>;
export type ValueName = keyof typeof VALUES;

/** Arguments as models send them: JSON, or its absence. */
export const ARGS = {
  object: () => ({ path: 'src' }),
  empty: () => ({}),
  nothing: () => undefined,
  null: () => null,
  text: () => '{"path":',
  number: () => 7,
  array: () => ['a'],
  lone: () => ({ path: '\ud83d' }),
  huge: () => ({ text: 'long '.repeat(400) }),
} satisfies Record<string, () => unknown>;
export type ArgsName = keyof typeof ARGS;

/** What is thrown. */
export const THROWN = {
  error: () => new Error('it broke'),
  wordless: () => new Error(''),
  text: () => 'a text',
  empty: () => '',
  nothing: () => undefined,
  null: () => null,
  number: () => 0,
  object: () => ({ message: 'in an object' }),
  bare: () => Object.create(null) as unknown,
  hostile: () => ({ toString: boom, get message(): never { return boom(); } }),
  hostileError: () => Object.defineProperty(new Error('x'), 'message', { get: boom }),
  symbol: () => Symbol('thrown'),
  abort: () => new DOMException('aborted', 'AbortError'),
  lone: () => new Error('torn \ude00'),
} satisfies Record<string, () => unknown>;
export type ThrownName = keyof typeof THROWN;

/** Events that are none. */
export const MALFORMED = {
  nothing: () => undefined,
  null: () => null,
  number: () => 5,
  text: () => 'text',
  empty: () => ({}),
  kind: () => ({ kind: 'nope' }),
  textless: () => ({ kind: 'text' }),
  textNumber: () => ({ kind: 'text', text: 5 }),
  thinkingNull: () => ({ kind: 'thinking', text: null }),
  done: () => ({ kind: 'done' }),
  doneNull: () => ({ kind: 'done', message: null }),
  doneText: () => ({ kind: 'done', message: { content: 'hi' } }),
  doneBlock: () => ({ kind: 'done', message: { content: [{ type: 'video' }] } }),
  doneCall: () => ({ kind: 'done', message: { content: [{ type: 'tool_call', content: null }] } }),
  getter: () => ({ get kind(): never { return boom(); } }),
} satisfies Record<string, () => unknown>;
export type MalformedName = keyof typeof MALFORMED;

type Output = (input: ToolInput) => unknown;
const fine = ({ call_id }: ToolInput) => ({
  call_id,
  value: 'fine',
  render: null,
  error: null,
  decision: null,
});

/** Outputs of a registry, and whether they read as a result or as an error (L4.6). */
export const OUTPUTS = {
  fine: ['ok', fine],
  foreign: ['ok', (input) => ({ ...fine(input), call_id: 'stranger' })],
  rendered: ['ok', (input) => ({ ...fine(input), render: 7, decision: { kind: 'allow' } })],
  sparse: ['ok', ({ call_id }) => ({ call_id, value: 1 })],
  surface: ['ok', (input) => ({ ...fine(input), surface: { kind: 'omitted', head_bytes: -1 } })],
  note: ['ok', (input) => ({ ...fine(input), surface: { kind: 'truncation', note: 'cut' } })],
  abandoned: ['ok', (input) => ({ ...fine(input), abandoned: true })],
  denied: ['error', (input) => ({ ...fine(input), error: 'no', decision: { kind: 'deny' } })],
  wordless: ['error', (input) => ({ ...fine(input), error: '' })],
  objection: ['error', (input) => ({ ...fine(input), error: { why: 'so' } })],
  nothing: ['error', () => undefined],
  null: ['error', () => null],
  number: ['error', () => 7],
  text: ['error', () => 'a result'],
  array: ['error', () => []],
  getter: ['error', () => ({ get value(): never { return boom(); } })],
} satisfies Record<string, readonly ['ok' | 'error', Output]>;
export type OutputName = keyof typeof OUTPUTS;

/** Throws what the name says. */
export function raise(name: ThrownName): never {
  throw THROWN[name]() as Error; // hosts and providers throw anything
}

/** A promise that rejects with what the name says. */
export async function rejection(name: ThrownName): Promise<never> {
  await Promise.resolve();
  return raise(name);
}
