import { systemMessage, type Message } from '@celestea/core';

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
 * The messages of a request that is to fit a window, in one pass of O(n) (L5.3 to L5.9).
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
  const estimate = messageEstimator();
  const tokens = messages.map((message) => estimate(message));
  const total = tokens.reduce((sum, count) => sum + count, systemTokens);
  if (total <= budget) return { trimmed: untrimmed(messages.slice()), requestTokens: () => total };

  const parts = splitHistory(messages, tokens, systemTokens);
  const cut = chooseCut(parts, budget, keepRecent);
  if (cut <= 0) {
    return { trimmed: untrimmed([...parts.system, ...parts.rest]), requestTokens: () => total };
  }
  const removedTokens = parts.prefixTokens[cut] ?? 0;
  const marker = trimmedMarkerMessage(cut, removedTokens);
  const trimmed: TrimResult = {
    messages: [...parts.system, marker, ...parts.rest.slice(cut)],
    outcome: { removedMessages: cut, removedTokens, trimmed: true },
  };
  const keptTokens = parts.suffixTokens[cut] ?? 0;
  return { trimmed, requestTokens: () => parts.fixedTokens + estimate(marker) + keptTokens };
}

/** Messages handed back as they are. */
export function untrimmed(messages: Message[]): TrimResult {
  return { messages, outcome: { removedMessages: 0, removedTokens: 0, trimmed: false } };
}

interface History {
  readonly system: Message[];
  readonly rest: Message[];
  /** Tokens that are sent whatever is cut: the system prompt and the system messages. */
  readonly fixedTokens: number;
  /** `prefixTokens[i]` is the price of `rest` before `i`; one longer than `rest`. */
  readonly prefixTokens: Float64Array;
  /**
   * `suffixTokens[i]` is the price of `rest` from `i` on. No difference of the prefixes: beside
   * one huge price the small ones would vanish in it.
   */
  readonly suffixTokens: Float64Array;
}

function splitHistory(
  messages: readonly Message[],
  tokens: readonly number[],
  systemTokens: number,
): History {
  const system: Message[] = [];
  const rest: Message[] = [];
  const restTokens: number[] = [];
  let fixedTokens = systemTokens;
  messages.forEach((message, index) => {
    const price = tokens[index] ?? 0;
    if (message.role === 'system') {
      system.push(message);
      fixedTokens += price;
    } else {
      rest.push(message);
      restTokens.push(price);
    }
  });
  const prefixTokens = new Float64Array(rest.length + 1);
  restTokens.forEach((price, index) => {
    prefixTokens[index + 1] = (prefixTokens[index] ?? 0) + price;
  });
  const suffixTokens = new Float64Array(rest.length + 1);
  for (let index = rest.length - 1; index >= 0; index -= 1) {
    suffixTokens[index] = (suffixTokens[index + 1] ?? 0) + (restTokens[index] ?? 0);
  }
  return { system, rest, fixedTokens, prefixTokens, suffixTokens };
}

/** Where the kept suffix starts (L5.5); 0 or less for no cut. */
function chooseCut(history: History, budget: number, keepRecent: number): number {
  const { rest } = history;
  const recent = rest.length - Math.max(1, Number.isNaN(keepRecent) ? 1 : keepRecent);
  let firstRecent = -1;
  let firstFitting = -1;
  let last = -1;
  for (let start = 0; start < rest.length; start += 1) {
    if (rest[start]?.role !== 'user') continue;
    last = start;
    if (firstRecent < 0 && start >= recent) firstRecent = start;
    if (firstFitting < 0 && fits(history, start, budget)) firstFitting = start;
  }
  if (firstRecent < 0 && firstFitting < 0) return last;
  return Math.max(firstRecent, firstFitting);
}

/** Whether the request of this very cut, its marker included, is within budget (L5.6). */
function fits(history: History, start: number, budget: number): boolean {
  const withoutMarker = history.fixedTokens + (history.suffixTokens[start] ?? 0);
  if (start === 0 || withoutMarker > budget) return false; // whole, it was over budget already
  const estimate = messageEstimator();
  const marker = trimmedMarkerMessage(start, history.prefixTokens[start] ?? 0);
  return withoutMarker + estimate(marker) <= budget;
}
