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
  return Math.floor(windowTokens * share) || 1;
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

/** What a pass came to. */
export interface TrimPass {
  readonly trimmed: TrimResult;
  readonly history: PricedHistory;
  /** What the request it leaves costs, the system prompt included. */
  readonly total: () => number;
  /** Where the kept part of `history.rest` starts. */
  readonly cut: number;
}

/** The pass itself. */
export function trimToBudget(
  messages: readonly Message[],
  systemTokens: number,
  budget: number,
  keepRecent: number,
): TrimPass {
  const history = pricedHistory(messages);
  const { system, rest, before } = history;
  const fixedTokens = systemTokens + history.systemTokens;
  const total = fixedTokens + (before[rest.length] ?? 0);
  const suffix = suffixTokens(history);
  const isOver = total > budget;
  const cut = isOver ? chooseCut(history, suffix, budget - fixedTokens, keepRecent) : 0;
  if (cut <= 0) {
    const trimmed = untrimmed(isOver ? system.concat(rest) : messages.slice());
    return { trimmed, history, total: () => total, cut: 0 };
  }
  const removedTokens = before[cut] ?? 0;
  const marker = trimmedMarkerMessage(cut, removedTokens);
  const trimmed: TrimResult = {
    messages: system.concat([marker], rest.slice(cut)),
    outcome: { removedMessages: cut, removedTokens, trimmed: true },
  };
  const keptTokens = (): number => fixedTokens + suffix(cut) + messageEstimator()(marker);
  return { trimmed, history, total: keptTokens, cut };
}

/** Messages handed back as they are. */
export function untrimmed(messages: Message[]): TrimResult {
  return { messages, outcome: { removedMessages: 0, removedTokens: 0, trimmed: false } };
}

/** Tokens from a place to the end: the sums that are kept tell, unless they are beyond exactness. */
function suffixTokens({ rest, before }: PricedHistory): (start: number) => number {
  const all = before.at(-1) ?? 0;
  if (Math.abs(all) <= Number.MAX_SAFE_INTEGER) return (start) => all - (before[start] ?? 0);
  // beside one huge price the small ones before it vanish, those after it do not
  let sum = 0;
  const estimate = messageEstimator();
  const sums = rest.toReversed().map((message) => (sum += estimate(message)));
  return (start) => sums.at(-start - 1) ?? 0;
}

/** Where the kept suffix starts (L5.5); 0 or less for no cut. `room` is for it and its marker. */
function chooseCut(
  { rest, before, users }: PricedHistory,
  suffix: (start: number) => number,
  room: number,
  keepRecent: number,
): number {
  const recent = rest.length - Math.max(1, keepRecent || 1); // NaN is no number of messages
  // the request of this very cut, its marker included (L5.6)
  const fits = (user: number): boolean =>
    user > 0 &&
    suffix(user) <= room &&
    suffix(user) + messageEstimator()(trimmedMarkerMessage(user, before[user] ?? 0)) <= room;
  const firstRecent = users[firstNot(users, (user) => user < recent)] ?? -1;
  const found = Math.max(firstRecent, users.find(fits) ?? -1);
  return found < 0 ? (users.at(-1) ?? -1) : found;
}

/** Where the first of these ascending numbers stands that is not `below`; their count when all are. */
export function firstNot(numbers: readonly number[], below: (number: number) => boolean): number {
  let low = 0;
  for (let high = numbers.length; low < high; ) {
    const middle = (low + high) >> 1;
    if (below(numbers[middle] ?? 0)) low = middle + 1;
    else high = middle;
  }
  return low;
}
