import { systemMessage, type Message } from '@celestea/core';

import { pricedHistory, type PricedHistory } from './priced-history.ts';
import { messageEstimator } from './tokens.ts';

/** What a trim pass cut. */
export interface TrimOutcome {
  removedMessages: number;
  removedTokens: number;
  trimmed: boolean;
}

/** The messages to send, and what was cut from them. */
export interface TrimResult {
  messages: Message[];
  outcome: TrimOutcome;
}

/** How the marker that stands for a cut begins. */
export const TRIMMED_MARKER_PREFIX = '[context-trimmed]';

/** The system message that stands for what was cut (L5.7). */
export function trimmedMarkerMessage(removedMessages: number, removedTokens: number): Message {
  return systemMessage(
    `${TRIMMED_MARKER_PREFIX} ${String(removedMessages)} message(s), ~${String(removedTokens)} ` +
      'tokens, of the earlier conversation were cut to fit the context window. ' +
      'If you need details from them, ask the user.',
  );
}

/**
 * Tokens a request may have: `window × threshold`, at least 1; `null` when the window is 0,
 * which turns trimming off (L5.3).
 */
export function contextBudget(windowTokens: number, threshold: number): number | null {
  if (!(windowTokens > 0)) return null;
  const share = Number.isNaN(threshold) ? 1 : Math.min(1, Math.max(0, threshold));
  return share === 0 ? 1 : Math.max(1, Math.floor(windowTokens * share));
}

/**
 * The messages of a request that is to fit a window, in one pass of O(n) (L5.3 to L5.9). Of a
 * history that was passed before and has grown, only the new messages are priced.
 *
 * Within budget they are handed back as they are. Over budget the system messages come
 * first, then a marker that says how much was cut, then the newest part of the conversation
 * that starts at a user's message, so that no tool call is parted from its result. What one
 * cannot cut at a user's message is left whole: the result may still be over budget.
 *
 * Pure: the arrays are fresh, the messages the same objects.
 *
 * @param systemTokens tokens of the system prompt, which is sent beside the messages
 * @param windowTokens tokens of the model's window; 0 turns trimming off
 * @param threshold the part of the window to fill, clamped to 0..1
 * @param keepRecent how many messages to keep at the end where possible; at least 1
 */
export function trimContext(
  messages: readonly Message[],
  systemTokens: number,
  windowTokens: number,
  threshold: number,
  keepRecent: number,
): TrimResult {
  const budget = contextBudget(windowTokens, threshold);
  if (budget === null) return untrimmed(messages.slice());
  return trimToBudget(messages, systemTokens, budget, keepRecent).trimmed;
}

/** The pass itself, and what the request it leaves costs, the system prompt included. */
export function trimToBudget(
  messages: readonly Message[],
  systemTokens: number,
  budget: number,
  keepRecent: number,
): { trimmed: TrimResult; requestTokens: () => number } {
  const history = pricedHistory(messages);
  const { system, rest, before } = history;
  const fixedTokens = systemTokens + history.systemTokens;
  const total = fixedTokens + (before[rest.length] ?? 0);
  if (total <= budget) return { trimmed: untrimmed(messages.slice()), requestTokens: () => total };

  const { cut, suffixTokens } = chooseCut(history, fixedTokens, budget, keepRecent);
  if (cut <= 0) return { trimmed: untrimmed([...system, ...rest]), requestTokens: () => total };
  const removedTokens = before[cut] ?? 0;
  const marker = trimmedMarkerMessage(cut, removedTokens);
  const trimmed: TrimResult = {
    messages: [...system, marker, ...rest.slice(cut)],
    outcome: { removedMessages: cut, removedTokens, trimmed: true },
  };
  const requestTokens = (): number =>
    fixedTokens + messageEstimator()(marker) + suffixTokens(cut);
  return { trimmed, requestTokens };
}

/** Messages handed back as they are. */
export function untrimmed(messages: Message[]): TrimResult {
  return { messages, outcome: { removedMessages: 0, removedTokens: 0, trimmed: false } };
}

interface Cut {
  /** Where the kept suffix starts (L5.5); 0 or less for no cut. */
  readonly cut: number;
  readonly suffixTokens: (start: number) => number;
}

/** Walks the part that may be kept, from its end: what lies before it was priced when it came. */
function chooseCut(
  { rest, tokens, before, users }: PricedHistory,
  fixedTokens: number,
  budget: number,
  keepRecent: number,
): Cut {
  // no difference of prefixes: beside one huge price the small ones would vanish in it
  const suffixTokens = (start: number): number =>
    tokens.slice(start).reduceRight((sum, price) => sum + price, 0);
  const recent = rest.length - Math.max(1, Number.isNaN(keepRecent) ? 1 : keepRecent);
  let suffix = 0;
  let start = rest.length;
  const scored: [start: number, suffix: number][] = [];
  while (start > 1 && fixedTokens + suffix <= budget) {
    start -= 1;
    suffix += tokens[start] ?? 0;
    if (rest[start]?.role === 'user') scored.push([start, suffix]);
  }
  // the request of this very cut, its marker included (L5.6)
  const fits = ([at, kept]: [number, number]): boolean =>
    fixedTokens + kept <= budget &&
    fixedTokens + kept + messageEstimator()(trimmedMarkerMessage(at, before[at] ?? 0)) <= budget;
  const firstFitting = scored.findLast(fits)?.[0] ?? -1;
  const firstRecent = firstFrom(users, recent);
  const last = users.at(-1) ?? -1;
  const found = Math.max(firstRecent, firstFitting);
  return { cut: found < 0 ? last : found, suffixTokens };
}

/** The first of these ascending numbers that is `least` or more; -1 when none is. */
function firstFrom(numbers: readonly number[], least: number): number {
  let low = 0;
  for (let high = numbers.length; low < high; ) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < least) low = middle + 1;
    else high = middle;
  }
  return numbers[low] ?? -1;
}
