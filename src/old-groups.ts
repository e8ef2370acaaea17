import { firstNot, type TrimPass, type TrimResult } from './context-trim.ts';
import { estimateMessageTokens, messageEstimator } from './tokens.ts';

/**
 * Drops the oldest calls and results that have no place in a request, whatever is left out of
 * them: those that `fitContext` would look into one by one and then drop. It leaves at least one
 * group of them to it, so that what comes out is the same. A turn that has outgrown its window
 * then costs at each step what the window holds, and not all that went before (X7).
 */
export function withoutOldestGroups(
  { trimmed, history, cut }: TrimPass,
  budget: number,
): TrimResult {
  const { rest, before, groups, outside, least } = history;
  // another estimator may price a notice at anything, and larger sums may not come out even
  const isExact = Number.isSafeInteger(before[rest.length]);
  if (!isExact || messageEstimator() !== estimateMessageTokens) return trimmed;
  const first = groups[firstNot(groups, (group) => group < cut)] ?? rest.length;
  const stop = outside[firstNot(outside, (index) => index < first)] ?? Infinity;
  const newest = least[groups.at(-1) ?? 0] ?? 0;
  const isTooOld = (group: number): boolean =>
    group < stop && newest - (least[group] ?? 0) > budget;
  const end = groups[firstNot(groups, isTooOld) - 1] ?? 0;
  if (end <= first) return trimmed;
  const { removedMessages, removedTokens } = trimmed.outcome;
  const outcome = {
    ...trimmed.outcome,
    removedMessages: removedMessages + end - first,
    removedTokens: removedTokens + (before[end] ?? 0) - (before[first] ?? 0),
  };
  return { messages: trimmed.messages.toSpliced(first - rest.length, end - first), outcome };
}
