import { readImageRef } from './image-ref.ts';
import { serdeJsonString } from './json-text.ts';
import type { ImageRef } from './message.ts';
import type { SessionEvent } from './session-event.ts';
import { describeValue, isRecord } from './shape.ts';
import { effectiveOutcome, isTurnOutcome, type TurnOutcome } from './turn-outcome.ts';

/** A row read back, or every reason why the line is none. */
export type ParsedSessionEvent =
  { ok: true; event: SessionEvent } | { ok: false; errors: string[] };

/**
 * One row as one JSON object without a line break (C4.4): `type` first, then the fields in
 * the order of the row's type; optional fields that are absent are left out, a missing
 * `outcome` is written `completed`.
 */
export function serializeSessionEvent(event: SessionEvent): string {
  const fields = rowFields(event)
    .filter((field): field is [string, string] => field[1] !== null)
    .map(([name, text]) => `"${name}":${text}`);
  return `{"type":"${event.type}",${fields.join(',')}}`
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
}

/** Name and JSON text of each field; `null` where it is left out. */
function rowFields(event: SessionEvent): [name: string, text: string | null][] {
  switch (event.type) {
    case 'turn_start':
      return [['id', serdeJsonString(event.id)]];
    case 'turn_end':
      return [
        ['id', serdeJsonString(event.id)],
        ['outcome', outcomeText(effectiveOutcome(event.outcome))],
      ];
    case 'user_message':
      return [
        ['text', serdeJsonString(event.text)],
        ['attachments', attachmentsText(event.attachments)],
      ];
    case 'assistant_message':
      return [
        ['text', serdeJsonString(event.text)],
        ['calls_follow', flag(event.calls_follow)],
      ];
    case 'thinking_delta':
      return [
        ['text', serdeJsonString(event.text)],
        ['meta', optional(event.meta, serdeJsonString)],
      ];
    case 'tool_call':
      return [
        ['id', serdeJsonString(event.id)],
        ['name', serdeJsonString(event.name)],
        ['args', serdeJsonString(event.args)],
        ['parent_id', optional(event.parent_id, serdeJsonString)],
        ['meta', optional(event.meta, serdeJsonString)],
      ];
    case 'tool_result':
      return [
        ['id', serdeJsonString(event.id)],
        ['value', serdeJsonString(event.value)],
        ['error', serdeJsonString(event.error)],
        ['parent_id', optional(event.parent_id, serdeJsonString)],
        ['surface', optional(event.surface, serdeJsonString)],
        ['abandoned', flag(event.abandoned)],
      ];
    default:
      return event satisfies never;
  }
}

const optional = <T>(value: T | undefined, text: (value: T) => string): string | null =>
  value === undefined || value === null ? null : text(value);

const flag = (value: boolean | undefined): string | null => (value === true ? 'true' : null);

const outcomeText = (outcome: TurnOutcome): string =>
  typeof outcome === 'string'
    ? JSON.stringify(outcome)
    : JSON.stringify({ error: { kind: outcome.error.kind, message: outcome.error.message } });

const attachmentsText = (refs: readonly ImageRef[] | undefined): string | null =>
  refs === undefined || refs.length === 0
    ? null
    : JSON.stringify(refs.map((ref) => readImageRef(ref) ?? ref));

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
  const reader = new RowReader(row);
  const event = readRow(reader);
  return reader.errors.length > 0 || event === null
    ? { ok: false, errors: reader.errors }
    : { ok: true, event };
}

function readRow(row: RowReader): SessionEvent | null {
  const type = row.text('type');
  switch (type as SessionEvent['type']) {
    case 'turn_start':
      return { type: 'turn_start', id: row.text('id') };
    case 'turn_end':
      return { type: 'turn_end', id: row.text('id'), ...row.outcome() };
    case 'user_message':
      return { type: 'user_message', text: row.text('text'), ...row.attachments() };
    case 'assistant_message':
      return { type: 'assistant_message', text: row.text('text'), ...row.flag('calls_follow') };
    case 'thinking_delta':
      return { type: 'thinking_delta', text: row.text('text'), ...row.meta() };
    case 'tool_call':
      return {
        type: 'tool_call',
        id: row.text('id'),
        name: row.text('name'),
        args: row.any('args'),
        ...row.parentId(),
        ...row.meta(),
      };
    case 'tool_result':
      return {
        type: 'tool_result',
        id: row.text('id'),
        value: row.any('value'),
        error: row.textOrNull('error'),
        ...row.parentId(),
        ...row.surface(),
        ...row.flag('abandoned'),
      };
    default:
      if (row.errors.length === 0) row.errors.push(`unknown type ${describeValue(type)}`);
      return null;
  }
}

/** Reads the fields of one row and collects what is wrong with them. */
class RowReader {
  readonly errors: string[] = [];
  readonly #row: Record<string, unknown>;

  constructor(row: Record<string, unknown>) {
    this.#row = row;
  }

  any(name: string): unknown {
    if (!Object.hasOwn(this.#row, name)) this.errors.push(`missing ${name}`);
    return this.#row[name];
  }

  text(name: string): string {
    const value = this.#own(name);
    if (typeof value === 'string') return value;
    this.#wrong(name, 'a string', value);
    return '';
  }

  textOrNull(name: string): string | null {
    return this.#own(name) === null ? null : this.text(name);
  }

  parentId(): { parent_id?: string } {
    return this.#absent('parent_id') ? {} : { parent_id: this.text('parent_id') };
  }

  meta(): { meta?: unknown } {
    return this.#absent('meta') ? {} : { meta: this.#own('meta') };
  }

  flag<Name extends string>(name: Name): Partial<Record<Name, true>> {
    const value = this.#own(name);
    if (value === true) return { [name]: true } as Record<Name, true>;
    if (value !== false && !this.#absent(name)) this.#wrong(name, 'a boolean', value);
    return {};
  }

  surface(): { surface?: Record<string, unknown> } {
    if (this.#absent('surface')) return {};
    const value = this.#own('surface');
    if (isRecord(value)) return { surface: value };
    this.#wrong('surface', 'an object', value);
    return {};
  }

  outcome(): { outcome?: TurnOutcome } {
    if (this.#absent('outcome')) return {};
    const value = this.#own('outcome');
    if (isTurnOutcome(value)) return { outcome: value };
    this.#wrong('outcome', 'a turn outcome', value);
    return {};
  }

  attachments(): { attachments?: ImageRef[] } {
    if (this.#absent('attachments')) return {};
    const value = this.#own('attachments');
    if (!Array.isArray(value)) {
      this.#wrong('attachments', 'an array', value);
      return {};
    }
    const refs: ImageRef[] = [];
    for (const [index, item] of value.entries()) {
      const ref = readImageRef(item);
      if (ref === null) {
        this.#wrong(`attachments[${String(index)}]`, 'an image reference', item);
      } else refs.push(ref);
    }
    return refs.length === 0 ? {} : { attachments: refs };
  }

  #own(name: string): unknown {
    return Object.hasOwn(this.#row, name) ? this.#row[name] : undefined;
  }

  #absent(name: string): boolean {
    const value = this.#own(name);
    return value === undefined || value === null;
  }

  #wrong(name: string, expected: string, value: unknown): void {
    this.errors.push(
      value === undefined
        ? `missing ${name}`
        : `${name}: expected ${expected}, got ${describeValue(value)}`,
    );
  }
}
