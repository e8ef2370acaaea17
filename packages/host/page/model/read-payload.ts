import { OUTCOME_KINDS, type OutcomeKind, type Tokens } from './view.ts';

/** What an event brought, of which nothing is taken for granted. */
export type Payload = Readonly<Record<string, unknown>>;

/** Whether a value is an object with fields. */
export function isPayload(value: unknown): value is Payload {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A text of the payload; empty when it is none. */
export function textOf(payload: Payload, field: string): string {
  const value = payload[field];
  return typeof value === 'string' ? value : '';
}

/** A text of the payload, or `null`. */
export function textOrNull(payload: Payload, field: string): string | null {
  const value = payload[field];
  return typeof value === 'string' ? value : null;
}

/** A number of the payload, or `null`. */
export function numberOf(payload: Payload, field: string): number | null {
  const value = payload[field];
  return typeof value === 'number' ? value : null;
}

/** The texts of a list; what is none is left out. */
export function textsOf(payload: Payload, field: string): string[] {
  const value = payload[field];
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];
}

/** The counters of a payload, or `null`. */
export function tokensOf(payload: Payload, field: string): Tokens | null {
  const value = payload[field];
  if (!isPayload(value)) return null;
  const count = (name: string): number => numberOf(value, name) ?? 0;
  return {
    prompt: count('prompt_tokens'),
    completion: count('completion_tokens'),
    total: count('total_tokens'),
    cacheRead: count('cache_read'),
    reasoning: count('reasoning_tokens'),
  };
}

/** Whether a text names one of the five ends of a turn. */
export function isOutcomeKind(text: string): text is OutcomeKind {
  return OUTCOME_KINDS.some((kind) => kind === text);
}

/** The log keeps no decision, so a refusal is known there by how the registry words it. */
export function isDenial(error: string | null): boolean {
  return error?.startsWith('denied: ') === true;
}
