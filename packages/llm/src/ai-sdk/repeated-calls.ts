import type { LanguageModelV3ToolCall } from '@ai-sdk/provider';
import { isRecord } from '@celestea/core';

/** Stands in no id that is meant to be one. */
const MARK = '\0';

/**
 * The id under which an adapter gets a call whose id the reply had before: for the same one it
 * would make another up. {@link givenId} gives the provider's own back.
 *
 * @param index of this call alone
 */
export const repeatedId = (id: string, index: number): string => `${id}${MARK}${String(index)}`;

/** The id as the provider gave it. */
export const givenId = (id: string): string => id.split(MARK, 1).join();

/**
 * The calls of a reply without those that only say again what one before them says: its id, its
 * name and the same JSON value as arguments. Calls without an id are each their own.
 */
export function withoutRepeats(
  calls: readonly LanguageModelV3ToolCall[],
): readonly LanguageModelV3ToolCall[] {
  const ids = calls.map(({ toolCallId }) => givenId(toolCallId));
  if (new Set(ids).size === calls.length) return calls;
  const told = new Set<string>();
  return calls.filter(({ toolName, input }, at) => {
    const call = JSON.stringify([ids[at], toolName, sortedJson(input)]);
    const isNew = ids[at]?.trim() === '' || !told.has(call);
    told.add(call);
    return isNew;
  });
}

/** The same text for the same value, in whatever order its keys are. */
function sortedJson(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json.trim() || '{}'), (_, value: unknown) =>
      isRecord(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    );
  } catch {
    return json; // no JSON, or nested too deep to be written
  }
}
