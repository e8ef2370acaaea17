import type { TurnOutcomePhase, Usage } from '@celestea/core';

/** How a turn ended, in words. */
export const OUTCOME_WORDS: Readonly<Record<TurnOutcomePhase, string>> = {
  completed: 'completed',
  cancelled: 'cancelled',
  error: 'failed',
  step_limit: 'stopped at the step limit',
  interrupted: 'interrupted before the reply was finished',
};

/** A span of time for people: `340 ms`, `4.2 s`, `1 min 05 s`. */
export function durationWords(milliseconds: number): string {
  const ms = Math.max(0, milliseconds);
  if (ms < 1000) return `${String(Math.round(ms))} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
  return `${String(minutes)} min ${String(rest).padStart(2, '0')} s`;
}

/** A number with its thousands apart. */
export function countWords(count: number): string {
  return count.toLocaleString('en-GB');
}

/** A number and its thing, in the right number. */
export function counted(count: number, thing: string): string {
  return `${countWords(count)} ${thing}${count === 1 ? '' : 's'}`;
}

/** Tokens on one line; empty when none were counted. */
export function tokensWords({ prompt_tokens, completion_tokens, total_tokens }: Usage): string {
  if (total_tokens === 0) return '';
  const parts = `${countWords(prompt_tokens)} in, ${countWords(completion_tokens)} out`;
  return `${counted(total_tokens, 'token')} (${parts})`;
}

/** How long ago, roughly: `just now`, `5 min ago`, `3 h ago`, else the day. */
export function agoWords(thenMs: number, nowMs: number): string {
  const minutes = Math.floor((nowMs - thenMs) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${String(minutes)} min ago`;
  if (minutes < 24 * 60) return `${String(Math.floor(minutes / 60))} h ago`;
  return new Date(thenMs).toISOString().slice(0, 10);
}
