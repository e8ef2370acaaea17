import { ROW_FIELDS, type FieldKind } from './row-fields.ts';
import type { SessionEvent } from './session-event.ts';
import { describeValue, isRecord } from './shape.ts';

/** A row read back, or every reason why the line is none. */
export type ParsedSessionEvent =
  { ok: true; event: SessionEvent } | { ok: false; errors: string[] };

/** The fields of each row, ready to be gone through. */
const ROWS: ReadonlyMap<unknown, readonly (readonly [name: string, kind: FieldKind])[]> = new Map(
  Object.entries(ROW_FIELDS).map(([type, fields]) => [type, Object.entries<FieldKind>(fields)]),
);

/**
 * One row as one JSON object without a line break (C4.4): `type` first, then the fields in
 * the order of the row's type; optional fields that are absent are left out, a missing
 * `outcome` is written `completed`.
 */
export function serializeSessionEvent(event: SessionEvent): string {
  const row = event as unknown as Record<string, unknown>;
  let line = `{"type":"${event.type}"`;
  for (const [name, kind] of ROWS.get(event.type) ?? []) {
    const text = kind.write(row[name]);
    if (text !== null) line += `,"${name}":${text}`;
  }
  line += '}';
  return LINE_SEPARATOR.test(line)
    ? line.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
    : line;
}

const LINE_SEPARATOR = /[\u2028\u2029]/;

/**
 * Reads one line back. Unknown fields are ignored and `null` for an optional field reads as
 * absent; an unknown `type`, a missing required field or a wrong type is an error.
 */
export function parseSessionEvent(line: string): ParsedSessionEvent {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch (error) {
    return { ok: false, errors: [`not JSON: ${error instanceof Error ? error.message : 'bad'}`] };
  }
  if (!isRecord(row)) {
    return { ok: false, errors: [`expected a JSON object, got ${describeValue(row)}`] };
  }
  const type = own(row, 'type');
  const fields = ROWS.get(type);
  if (fields !== undefined) {
    return isRow(row, fields) ? { ok: true, event: row } : readRow(row, fields);
  }
  if (type === undefined) return { ok: false, errors: ['missing type'] };
  const expected = typeof type === 'string' ? 'unknown type' : 'type: expected a string, got';
  return { ok: false, errors: [`${expected} ${describeValue(type)}`] };
}

const own = (row: Record<string, unknown>, name: string): unknown =>
  Object.hasOwn(row, name) ? row[name] : undefined;

/**
 * Whether what was parsed is a row as it stands, no field too few or too many: nearly all are,
 * and need not be put together anew.
 */
function isRow(
  row: Record<string, unknown>,
  fields: readonly (readonly [string, FieldKind])[],
): row is Record<string, unknown> & SessionEvent {
  let known = 1;
  for (const [name, kind] of fields) {
    const value = own(row, name);
    if (value === undefined && kind.read(undefined, name) === null) continue;
    if (!kind.isAsRead(value)) return false;
    known += 1;
  }
  return Object.keys(row).length === known;
}

/** Puts a row together of the fields that are known. */
function readRow(
  row: Record<string, unknown>,
  fields: readonly (readonly [string, FieldKind])[],
): ParsedSessionEvent {
  const event: Record<string, unknown> = { type: row['type'] };
  const errors: string[] = [];
  for (const [name, kind] of fields) {
    const read = kind.read(own(row, name), name);
    if (read === null) continue;
    if ('errors' in read) errors.push(...read.errors);
    else event[name] = read.value;
  }
  return errors.length > 0
    ? { ok: false, errors }
    : { ok: true, event: event as unknown as SessionEvent };
}
