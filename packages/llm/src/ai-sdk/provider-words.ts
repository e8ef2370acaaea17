import { isRecord } from '@celestea/core';

/** The longest text of a body that is taken for a message. */
const MAX_PLAIN = 300;
/** How deep an error is looked for in the field `error`. */
const MAX_LEVELS = 4;

/** What is said of any error, and of no certain one. */
const NO_NAME = /^(?:error|\d*)$/i;

/** An error and what stands in its field `error`, outermost first. */
function levelsOf(thrown: unknown): unknown[] {
  const levels: unknown[] = [thrown];
  let inner = thrown;
  while (isRecord(inner) && inner['error'] !== undefined && levels.length < MAX_LEVELS) {
    inner = inner['error'];
    levels.push(inner);
  }
  return levels;
}

/** The provider's own words; `''` when there are none. */
export function reasonOf(thrown: unknown): string {
  const levels = levelsOf(thrown);
  return levels.map(wordsOf).find((words) => words !== '') ?? namesIn(levels.at(-1)).join(' ');
}

function wordsOf(level: unknown): string {
  if (typeof level === 'string') return level;
  if (!isRecord(level)) return '';
  const told = [level['message'], level['detail']].filter((words) => typeof words === 'string');
  return told.find((words) => words !== '') ?? '';
}

/** What the failure is called: each `code`, `type` and `status` that is a name. */
export function namesOf(thrown: unknown): string {
  const names = levelsOf(thrown).flatMap(namesIn);
  return names.filter((name) => !NO_NAME.test(name)).join(' ');
}

function namesIn(level: unknown): string[] {
  if (!isRecord(level)) return [];
  const { code, type, status } = level;
  return [code, type, status].filter((name) => typeof name === 'string');
}

/** The HTTP status that an error inside a body or a stream names; `null` when it names none. */
export function statusOf(thrown: unknown): number | null {
  const numbers = levelsOf(thrown).flatMap((level) =>
    isRecord(level) ? [Number(level['status']), Number(level['code'])] : [],
  );
  return numbers.find((one) => Number.isInteger(one) && one >= 400 && one < 600) ?? null;
}

/** The JSON of a body, of a list its first; `undefined` when it is none. */
export function parseBody(body: string): unknown {
  try {
    const parsed: unknown = JSON.parse(body);
    return Array.isArray(parsed) ? parsed[0] : parsed;
  } catch {
    return undefined;
  }
}

/** Whether this is what an error looks like, whoever's. */
export function isErrorBody(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { error } = value;
  return (error !== undefined && error !== null) || wordsOf(value) !== '';
}

/**
 * What a body says that does not have its API's form: of another server's, in a list, in words.
 * A page is no message.
 */
export function bodyReason(body: string): string {
  const text = body.trim();
  const parsed = parseBody(text);
  if (parsed !== undefined) return isRecord(parsed) ? reasonOf(parsed) : '';
  return /^[<{[]/.test(text) || text.length > MAX_PLAIN ? '' : text;
}
