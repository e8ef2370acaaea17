import type { Content, ImageRef, Message, ToolCall } from '@celestea/core';
import fc from 'fast-check';

/** The same value, frozen at every depth. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  Object.values(value).forEach(frozen);
  return Object.freeze(value);
}

/** What texts are made of: whole code points. */
export const piece = fc.constantFrom(
  ...['', 'a', 'word ', 'é', '漢字', '😀', '\n', '"', '[context-trimmed] result of 9 bytes'],
);
/** What texts are torn out of: lone surrogates. */
export const torn = fc.constantFrom('\ud83d', '\ude00', 'x\ud83d', '\ude00\ud83d', '😀\ude00');
const size = fc.oneof(
  { arbitrary: fc.integer({ min: 0, max: 40 }), weight: 3 },
  fc.integer({ min: 41, max: 400 }),
  fc.integer({ min: 401, max: 3000 }),
);
const words = (unit: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(fc.array(unit, { minLength: 1, maxLength: 7 }), size, fc.nat(3))
    .map(([units, length, skip]) => repeated(Array.from(units.join('')), skip, length));

/** Code points are kept whole. */
const repeated = (points: readonly string[], skip: number, length: number): string =>
  Array.from({ length }, (_, index) => points[(skip + index) % points.length] ?? '').join('');

const picture: fc.Arbitrary<ImageRef> = fc.record({
  attachment_id: fc.constant('ab'.repeat(32)),
  media_type: fc.constant('image/png' as const),
  width: fc.integer({ min: 1, max: 900 }),
  height: fc.integer({ min: 1, max: 900 }),
});
const meta = fc.constantFrom<unknown>('sig', { signature: 's'.repeat(60) }, 0, ['x']);

export const textBlock = (content: string): Content => ({ type: 'text', content });
const imageBlock = (content: ImageRef): Content => ({ type: 'image', content });

interface Step {
  readonly thinking: { text: string; meta: unknown }[];
  readonly text: string | undefined;
  readonly calls: { args: unknown; meta: unknown; result: string; images: ImageRef[] }[];
}

interface Turn {
  readonly system: string | undefined;
  readonly user: string;
  readonly images: ImageRef[];
  readonly steps: Step[];
  readonly reply: string | undefined;
}

/** Histories as logs give them: every call has its result at once, ids are unique. */
export function histories(unit: fc.Arbitrary<string>): fc.Arbitrary<Message[]> {
  const text = words(unit);
  const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined, freq: 1 });
  const args = fc.oneof(fc.constant({}), text, fc.dictionary(unit, text, { maxKeys: 2 }));
  const call = fc.record({
    args,
    meta: fc.option(meta, { nil: undefined, freq: 5 }),
    result: text,
    images: fc.array(picture, { maxLength: 1 }),
  });
  const step: fc.Arbitrary<Step> = fc.record({
    thinking: fc.array(fc.record({ text, meta }), { maxLength: 1 }),
    text: maybe(text),
    calls: fc.array(call, { minLength: 1, maxLength: 3 }),
  });
  const shortText = text.map((long) => Array.from(long).slice(0, 200).join(''));
  const turn: fc.Arbitrary<Turn> = fc.record({
    system: fc.option(shortText, { nil: undefined, freq: 5 }),
    user: text,
    images: fc.array(picture, { maxLength: 1 }),
    steps: fc.array(step, { maxLength: 6 }),
    reply: maybe(text),
  });
  return fc.array(turn, { minLength: 1, maxLength: 4 }).map((turns) => frozen(messagesOf(turns)));
}

function messagesOf(turns: readonly Turn[]): Message[] {
  let ids = 0;
  return turns.flatMap(({ system, user, images, steps, reply }): Message[] => [
    ...(system === undefined ? [] : [plain('system', [textBlock(system)])]),
    plain('user', [textBlock(user), ...images.map(imageBlock)]),
    ...steps.flatMap((step): Message[] => {
      const calls = step.calls.map((call) => ({ ...call, id: `id-${String((ids += 1))}` }));
      const blocks = calls.map((call): Content => {
        const made: ToolCall = { id: call.id, name: 'look', args: call.args };
        if (call.meta !== undefined) made.meta = call.meta;
        return { type: 'tool_call', content: made };
      });
      const spoken = step.text === undefined ? [] : [textBlock(step.text)];
      const thought = step.thinking.map((content): Content => ({ type: 'thinking', content }));
      return [
        plain('assistant', [...thought, ...spoken, ...blocks]),
        ...calls.map((call): Message => {
          const content = [textBlock(call.result), ...call.images.map(imageBlock)];
          return { role: 'tool', content, tool_call_id: call.id };
        }),
      ];
    }),
    ...(reply === undefined ? [] : [plain('assistant', [textBlock(reply)])]),
  ]);
}

const plain = (role: Message['role'], content: Content[]): Message => ({
  role,
  content,
  tool_call_id: null,
});
