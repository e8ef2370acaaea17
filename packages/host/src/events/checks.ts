import { expectThat, type SseEventName } from '@celestea/core';

const NAMES: Readonly<Record<SseEventName, true>> = {
  text: true,
  thinking: true,
  tool: true,
  tool_result: true,
  turn_end: true,
  done: true,
  status: true,
  compact: true,
  question: true,
};

/** Refuses what is no name of `contracts/sse-events.json`: it stands in a frame as it is. */
export function expectName(value: unknown, what: string): asserts value is SseEventName {
  const isName = typeof value === 'string' && Object.hasOwn(NAMES, value);
  expectThat(isName, what, `one of ${Object.keys(NAMES).join(', ')}`, value);
}

/** Refuses what is no whole number between the two. */
export function expectWhole(
  value: unknown,
  what: string,
  least: number,
  most: number = Number.MAX_SAFE_INTEGER,
): asserts value is number {
  const fits = Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;
  const range =
    most === Number.MAX_SAFE_INTEGER
      ? `of at least ${String(least)}`
      : `from ${String(least)} to ${String(most)}`;
  expectThat(fits, what, `a whole number ${range}`, value);
}
