import { readImageRef } from './image-ref.ts';
import { serdeJsonString } from './json-text.ts';
import type { ImageRef } from './message.ts';
import type { SessionEvent } from './session-event.ts';
import { describeValue, isRecord } from './shape.ts';
import { effectiveOutcome, isTurnOutcome, type TurnOutcome } from './turn-outcome.ts';

/** What a field reads as: a value, nothing where it is left out, or what is wrong with it. */
type ReadField = { readonly value: unknown } | { readonly errors: readonly string[] } | null;

/** How a field of a row is written and read. */
export interface FieldKind {
  /** Its JSON text; `null` where it is left out. */
  write(value: unknown): string | null;
  /** `undefined` is a field that is not there. */
  read(value: unknown, name: string): ReadField;
  /** Whether a field reads as the very value that was parsed. */
  isAsRead(value: unknown): boolean;
}

type RowOf<Type extends SessionEvent['type']> = Extract<SessionEvent, { type: Type }>;

/** Every field of every row, so that the compiler asks for one that is forgotten. */
type RowFields = {
  readonly [Type in SessionEvent['type']]: Readonly<
    Record<Exclude<keyof RowOf<Type>, 'type'>, FieldKind>
  >;
};

const wrong = (name: string, expected: string, value: unknown): ReadField => ({
  errors: [
    value === undefined
      ? `missing ${name}`
      : `${name}: expected ${expected}, got ${describeValue(value)}`,
  ],
});

/** A field that has to be there. */
const required = (expected: string, fits: (value: unknown) => boolean): FieldKind => ({
  write: serdeJsonString,
  read: (value, name) => (fits(value) ? { value } : wrong(name, expected, value)),
  isAsRead: fits,
});

/** A field that may be left out; `null` reads as absent. */
const optional = (expected: string, fits: (value: unknown) => boolean): FieldKind => ({
  write: (value) => (value === undefined || value === null ? null : serdeJsonString(value)),
  read: (value, name) => {
    if (value === undefined || value === null) return null;
    return fits(value) ? { value } : wrong(name, expected, value);
  },
  isAsRead: (value) => value !== null && fits(value),
});

const isText = (value: unknown): boolean => typeof value === 'string';
const isThere = (value: unknown): boolean => value !== undefined;

const TEXT = required('a string', isText);
const TEXT_OR_NULL = required('a string', (value) => value === null || isText(value));
const ANYTHING = required('a value', isThere);
const OPTIONAL_TEXT = optional('a string', isText);
const OPTIONAL = optional('a value', isThere);
const OPTIONAL_OBJECT = optional('an object', isRecord);

/** Written when it is set; `false` reads as absent. */
const FLAG: FieldKind = {
  write: (value) => (value === true ? 'true' : null),
  read: (value, name) => {
    if (value === true) return { value };
    const isAbsent = value === false || value === undefined || value === null;
    return isAbsent ? null : wrong(name, 'a boolean', value);
  },
  isAsRead: (value) => value === true,
};

/** Always written. */
const OUTCOME: FieldKind = {
  ...optional('a turn outcome', isTurnOutcome),
  write: (value) => outcomeText(effectiveOutcome(value as TurnOutcome | undefined)),
};

const ATTACHMENTS: FieldKind = {
  write: (value) => {
    const refs = value as readonly ImageRef[] | undefined;
    return refs === undefined || refs.length === 0 ? null : `[${refs.map(refText).join()}]`;
  },
  read: readAttachments,
  isAsRead: () => false, // each is read, and keeps the known fields alone
};

/** The rows of a log, each with its fields in the order in which they are written (C4.4). */
export const ROW_FIELDS: RowFields = {
  turn_start: { id: TEXT },
  turn_end: { id: TEXT, outcome: OUTCOME },
  user_message: { text: TEXT, attachments: ATTACHMENTS },
  assistant_message: { text: TEXT, calls_follow: FLAG },
  thinking_delta: { text: TEXT, meta: OPTIONAL },
  tool_call: { id: TEXT, name: TEXT, args: ANYTHING, parent_id: OPTIONAL_TEXT, meta: OPTIONAL },
  tool_result: {
    id: TEXT,
    value: ANYTHING,
    error: TEXT_OR_NULL,
    parent_id: OPTIONAL_TEXT,
    surface: OPTIONAL_OBJECT,
    abandoned: FLAG,
  },
};

function outcomeText(outcome: TurnOutcome): string {
  if (typeof outcome === 'string') return JSON.stringify(outcome);
  const { kind, message } = outcome.error;
  return JSON.stringify({ error: { kind, message } });
}

/** A reference in the order of its type; what is none is written all the same, and read as a fault. */
function refText(ref: ImageRef): string {
  const known = readImageRef(ref);
  return known === null ? serdeJsonString(ref) : JSON.stringify(known);
}

function readAttachments(value: unknown, name: string): ReadField {
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value)) return wrong(name, 'an array', value);
  const refs = value.map((item) => readImageRef(item));
  const errors = value.flatMap((item, index) =>
    refs[index] === null
      ? `${name}[${String(index)}]: expected an image reference, got ${describeValue(item)}`
      : [],
  );
  if (errors.length > 0) return { errors };
  return refs.length === 0 ? null : { value: refs };
}
