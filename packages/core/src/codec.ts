import { readImageRef } from './image-ref.ts';
import { serdeJsonString } from './json-text.ts';
import type { ImageRef } from './message.ts';
import type {
  AssistantMessageRow,
  SessionEvent,
  ThinkingDeltaRow,
  ToolCallRow,
  ToolResultRow,
  TurnEndRow,
  UserMessageRow,
} from './session-event.ts';
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
  const line = `{"type":"${event.type}",${rowFields(event)}}`;
  return LINE_SEPARATOR.test(line)
    ? line.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
    : line;
}

const LINE_SEPARATOR = /[\u2028\u2029]/;

function rowFields(event: SessionEvent): string {
  switch (event.type) {
    case 'turn_start':
      return `"id":${serdeJsonString(event.id)}`;
    case 'turn_end':
      return `"id":${serdeJsonString(event.id)},"outcome":${outcomeText(effectiveOutcome(event.outcome))}`;
    case 'user_message':
      return `"text":${serdeJsonString(event.text)}${attachmentsField(event.attachments)}`;
    case 'assistant_message':
      return `"text":${serdeJsonString(event.text)}${flag('calls_follow', event.calls_follow)}`;
    case 'thinking_delta':
      return `"text":${serdeJsonString(event.text)}${optional('meta', event.meta)}`;
    case 'tool_call':
      return (
        `"id":${serdeJsonString(event.id)},"name":${serdeJsonString(event.name)}` +
        `,"args":${serdeJsonString(event.args)}` +
        optional('parent_id', event.parent_id) +
        optional('meta', event.meta)
      );
    case 'tool_result':
      return (
        `"id":${serdeJsonString(event.id)},"value":${serdeJsonString(event.value)}` +
        `,"error":${serdeJsonString(event.error)}` +
        optional('parent_id', event.parent_id) +
        optional('surface', event.surface) +
        flag('abandoned', event.abandoned)
      );
    default:
      return event satisfies never;
  }
}

/** A field with its comma, or nothing. */
const optional = (name: string, value: unknown): string =>
  value === undefined || value === null ? '' : `,"${name}":${serdeJsonString(value)}`;

const flag = (name: string, value: boolean | undefined): string =>
  value === true ? `,"${name}":true` : '';

const outcomeText = (outcome: TurnOutcome): string =>
  typeof outcome === 'string'
    ? JSON.stringify(outcome)
    : JSON.stringify({ error: { kind: outcome.error.kind, message: outcome.error.message } });

const attachmentsField = (refs: readonly ImageRef[] | undefined): string =>
  refs === undefined || refs.length === 0
    ? ''
    : `,"attachments":[${refs.map(refText).join()}]`;

/** A reference in the order of its type; what is none is written all the same, and read as a fault. */
const refText = (ref: ImageRef): string => {
  const known = readImageRef(ref);
  return known === null ? serdeJsonString(ref) : JSON.stringify(known);
};

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
  if (isRow(row)) return { ok: true, event: row };
  const reader = new RowReader(row);
  const event = readRow(reader);
  return reader.errors.length > 0 || event === null
    ? { ok: false, errors: reader.errors }
    : { ok: true, event };
}

/**
 * Whether what was parsed is an ordinary row as it stands, no field too few or too many: nearly
 * all are, and need not be put together anew.
 */
function isRow(row: Record<string, unknown>): row is Record<string, unknown> & SessionEvent {
  const hasText = (name: string): boolean =>
    Object.hasOwn(row, name) && typeof row[name] === 'string';
  if (!hasText('type')) return false;
  const fields = Object.keys(row).length;
  switch (row['type']) {
    case 'turn_start':
      return fields === 2 && hasText('id');
    case 'turn_end':
      return fields === 3 && hasText('id') && hasText('outcome') && isTurnOutcome(row['outcome']);
    case 'user_message':
    case 'assistant_message':
    case 'thinking_delta':
      return fields === 2 && hasText('text');
    case 'tool_call':
      return fields === 4 && hasText('id') && hasText('name') && Object.hasOwn(row, 'args');
    case 'tool_result':
      if (fields !== 4 || !hasText('id') || !Object.hasOwn(row, 'value')) return false;
      return hasText('error') || (row['error'] === null && Object.hasOwn(row, 'error'));
    default:
      return false;
  }
}

function readRow(row: RowReader): SessionEvent | null {
  const type = row.text('type');
  switch (type as SessionEvent['type']) {
    case 'turn_start':
      return { type: 'turn_start', id: row.text('id') };
    case 'turn_end': {
      const event: TurnEndRow = { type: 'turn_end', id: row.text('id') };
      const outcome = row.outcome();
      if (outcome !== undefined) event.outcome = outcome;
      return event;
    }
    case 'user_message': {
      const event: UserMessageRow = { type: 'user_message', text: row.text('text') };
      const attachments = row.attachments();
      if (attachments.length > 0) event.attachments = attachments;
      return event;
    }
    case 'assistant_message': {
      const event: AssistantMessageRow = { type: 'assistant_message', text: row.text('text') };
      if (row.flag('calls_follow')) event.calls_follow = true;
      return event;
    }
    case 'thinking_delta': {
      const event: ThinkingDeltaRow = { type: 'thinking_delta', text: row.text('text') };
      if (row.has('meta')) event.meta = row.any('meta');
      return event;
    }
    case 'tool_call': {
      const [id, name] = [row.text('id'), row.text('name')];
      const event: ToolCallRow = { type: 'tool_call', id, name, args: row.any('args') };
      if (row.has('parent_id')) event.parent_id = row.text('parent_id');
      if (row.has('meta')) event.meta = row.any('meta');
      return event;
    }
    case 'tool_result': {
      const [id, value] = [row.text('id'), row.any('value')];
      const event: ToolResultRow = { type: 'tool_result', id, value, error: row.error() };
      if (row.has('parent_id')) event.parent_id = row.text('parent_id');
      const surface = row.surface();
      if (surface !== undefined) event.surface = surface;
      if (row.flag('abandoned')) event.abandoned = true;
      return event;
    }
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

  /** Whether an optional field is there; `null` is not. */
  has(name: string): boolean {
    const value = this.#own(name);
    return value !== undefined && value !== null;
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

  error(): string | null {
    return this.#own('error') === null ? null : this.text('error');
  }

  flag(name: string): boolean {
    const value = this.#own(name);
    if (value !== true && value !== false && this.has(name)) this.#wrong(name, 'a boolean', value);
    return value === true;
  }

  surface(): Record<string, unknown> | undefined {
    if (!this.has('surface')) return undefined;
    const value = this.#own('surface');
    if (isRecord(value)) return value;
    this.#wrong('surface', 'an object', value);
    return undefined;
  }

  outcome(): TurnOutcome | undefined {
    if (!this.has('outcome')) return undefined;
    const value = this.#own('outcome');
    if (isTurnOutcome(value)) return value;
    this.#wrong('outcome', 'a turn outcome', value);
    return undefined;
  }

  attachments(): ImageRef[] {
    if (!this.has('attachments')) return [];
    const value = this.#own('attachments');
    if (!Array.isArray(value)) {
      this.#wrong('attachments', 'an array', value);
      return [];
    }
    const refs: ImageRef[] = [];
    for (const [index, item] of value.entries()) {
      const ref = readImageRef(item);
      if (ref === null) {
        this.#wrong(`attachments[${String(index)}]`, 'an image reference', item);
      } else refs.push(ref);
    }
    return refs;
  }

  #own(name: string): unknown {
    return Object.hasOwn(this.#row, name) ? this.#row[name] : undefined;
  }

  #wrong(name: string, expected: string, value: unknown): void {
    this.errors.push(
      value === undefined
        ? `missing ${name}`
        : `${name}: expected ${expected}, got ${describeValue(value)}`,
    );
  }
}
