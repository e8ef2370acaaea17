import fc from 'fast-check';

import type { ImageRef, SessionEvent } from '@celestea/core';

/** Texts that break naive writers: separators, controls, lone surrogates, `__proto__`. */
const hostileText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom('\u2028', '\u2029', '\ud800', '\udfff', '\n', '\r', '\0', '"', '\\'),
      fc.constantFrom('\u{1F600}', '\uffff', '\u007f', '\u0085', '</script>', '10', '9'),
      fc.string({ unit: 'binary', maxLength: 6 }),
    ),
    { maxLength: 4 },
  )
  .map((parts) => parts.join(''));

const keyText = fc.oneof(
  hostileText,
  fc.constantFrom('__proto__', 'constructor', 'toString', '10', '9', '-1', ''),
);

const finiteNumber = fc.oneof(
  fc.integer(),
  fc.constantFrom(1e21, 1e-7, 5e-324, 1.7976931348623157e308, -1e300, 0.1),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (n === 0 ? 0 : n)),
);

/** Plain JSON values, with every kind of key (own `__proto__` included). */
export const jsonValue: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(null, true, false),
    finiteNumber,
    hostileText,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(keyText, tie('value')), { maxLength: 4 }).map(Object.fromEntries),
  ),
})).value;

export const jsonRecord: fc.Arbitrary<Record<string, unknown>> = fc
  .array(fc.tuple(keyText, jsonValue), { maxLength: 4 })
  .map((entries) => Object.fromEntries(entries));

const mediaType = fc.constantFrom(
  'image/png' as const,
  'image/jpeg' as const,
  'image/webp' as const,
  'image/gif' as const,
);

const imageRef: fc.Arbitrary<ImageRef> = fc.record(
  {
    attachment_id: hostileText,
    media_type: mediaType,
    width: fc.nat(),
    height: fc.nat(),
    name: hostileText,
    original: fc.record(
      { width: fc.nat(), height: fc.nat(), bytes: fc.nat(), media_type: mediaType },
      { noNullPrototype: true },
    ),
  },
  {
    requiredKeys: ['attachment_id', 'media_type', 'width', 'height'],
    noNullPrototype: true,
  },
);

/** A record of these fields; those that are not required may be left out. */
export const row = <T, K extends keyof T>(
  model: { [P in keyof T]: fc.Arbitrary<T[P]> },
  requiredKeys: K[],
) => fc.record(model, { requiredKeys, noNullPrototype: true });

const yes = fc.constant(true as const);

/** What a provider wants back; `null` reads as none. */
const meta = jsonValue.filter((value) => value !== null);

export const type = <T extends SessionEvent['type']>(name: T) => fc.constant(name);

/** Rows as they come back from a log: what is absent is absent, an outcome is always there. */
export const sessionEvent: fc.Arbitrary<SessionEvent> = fc.oneof(
  row({ type: type('turn_start'), id: hostileText }, ['type', 'id']),
  row(
    {
      type: type('turn_end'),
      id: hostileText,
      outcome: fc.oneof(
        fc.constantFrom(
          'completed' as const,
          'cancelled' as const,
          'step_limit' as const,
          'interrupted' as const,
        ),
        fc
          .tuple(fc.constantFrom('generate' as const, 'stream' as const), hostileText)
          .map(([kind, message]) => ({ error: { kind, message } })),
      ),
    },
    ['type', 'id', 'outcome'],
  ),
  row(
    {
      type: type('user_message'),
      text: hostileText,
      attachments: fc.array(imageRef, { minLength: 1, maxLength: 3 }),
    },
    ['type', 'text'],
  ),
  row(
    { type: type('assistant_message'), text: hostileText, calls_follow: yes },
    ['type', 'text'],
  ),
  row({ type: type('thinking_delta'), text: hostileText, meta }, ['type', 'text']),
  row(
    {
      type: type('tool_call'),
      id: hostileText,
      name: hostileText,
      args: jsonValue,
      parent_id: hostileText,
      meta,
    },
    ['type', 'id', 'name', 'args'],
  ),
  row(
    {
      type: type('tool_result'),
      id: hostileText,
      value: jsonValue,
      error: fc.option(hostileText, { nil: null }),
      parent_id: hostileText,
      surface: jsonRecord,
      abandoned: yes,
    },
    ['type', 'id', 'value', 'error'],
  ),
);

/** Freezes a value and all it holds, so that a mutation of it throws. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze<unknown>(part);
  return value;
}

/** A picture with a valid id; `n` makes it another one. */
export function picture(n: number): ImageRef {
  return {
    attachment_id: String(n).padStart(64, '0'),
    media_type: 'image/png',
    width: 640,
    height: 480,
  };
}
