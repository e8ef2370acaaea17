import { describeValue, type ToolDecision, type ToolGuard, type ToolInput } from '@celestea/core';

import { mismatch } from './shape.ts';

/** Which calls a guard is about: those of these tools, or those a function says yes to. */
export type CallMatcher = readonly string[] | ((input: ToolInput) => boolean);

/**
 * A guard that asks for approval before these calls, and allows all others. A function is called
 * for each call; one that throws or gives anything but `true` or `false` makes the call denied.
 *
 * Names are compared as they are, as the registry does. Throws a `TypeError` when `which` is
 * neither a list of names nor a function, or `reason` no string.
 *
 * @example
 * registry.addGuard(askBefore(['send_mail'], 'it writes to people'));
 */
export function askBefore(which: CallMatcher, reason?: string): ToolGuard {
  return guardFor('ask', which, reason, 'is to be approved first');
}

/**
 * A guard that denies these calls and allows all others. Throws as {@link askBefore} does.
 *
 * @example
 * registry.addGuard(denyTools(['run_command'], 'no commands on this machine'));
 */
export function denyTools(which: CallMatcher, reason?: string): ToolGuard {
  return guardFor('deny', which, reason, 'is not to be used here');
}

/** The tools of `fileTools`, which change nothing. */
const FILE_TOOL_NAMES: readonly string[] = ['list_dir', 'read_file', 'search_text'];

/**
 * A guard that denies every call but those of the tools that only read: the named ones, or the
 * three of `fileTools`. It goes by name alone. What stands behind a name is what was registered
 * under it, and whether that only reads is for whoever names it to know; no tool is believed
 * when it says so of itself. Throws a `TypeError` when `readOnly` is no list of names.
 */
export function readOnlyGuard(readOnly: readonly string[] = FILE_TOOL_NAMES): ToolGuard {
  const names = nameSet('readOnly', readOnly);
  return denyTools(({ name }) => !names.has(name), 'only tools that read may be used here');
}

function guardFor(
  kind: 'ask' | 'deny',
  which: CallMatcher,
  reason: string | undefined,
  otherwise: string,
): ToolGuard {
  const matches = matcherOf(which);
  checkReason(reason);
  const judge = (input: ToolInput): ToolDecision =>
    matches(input)
      ? { kind, reason: reason ?? `${describeValue(input.name)} ${otherwise}` }
      : { kind: 'allow' };
  return { check: (input) => Promise.resolve(input).then(judge) };
}

function matcherOf(which: CallMatcher): (input: ToolInput) => boolean {
  if (typeof which !== 'function') {
    const names = nameSet('which', which);
    return ({ name }) => names.has(name);
  }
  return (input) => {
    const answer: unknown = which(input);
    if (typeof answer === 'boolean') return answer;
    throw new TypeError(mismatch('which', 'a function that gives true or false', answer));
  };
}

function nameSet(option: string, names: unknown): ReadonlySet<unknown> {
  if (!Array.isArray(names)) {
    throw new TypeError(mismatch(option, 'an array of tool names', names));
  }
  const stranger: unknown = names.find((name) => typeof name !== 'string' || name === '');
  if (stranger !== undefined || names.includes(undefined)) {
    throw new TypeError(mismatch(option, 'tool names only', stranger));
  }
  return new Set<unknown>(names);
}

function checkReason(reason: unknown): void {
  if (reason === undefined || typeof reason === 'string') return;
  throw new TypeError(mismatch('reason', 'a string or nothing', reason));
}
