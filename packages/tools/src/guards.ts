import {
  describeValue,
  expectThat,
  isRecord,
  type Tool,
  type ToolDecision,
  type ToolGuard,
  type ToolInput,
  type ToolRegistry,
} from '@celestea/core';

import { atOnce } from './shape.ts';

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

/**
 * A guard that denies every call but those of tools that say they only read ({@link Tool.readOnly}),
 * as the tools of `fileTools` do: of the registry it guards, or of a list. A list goes by names,
 * so what is registered under one of them later passes too. Throws a `TypeError` when it is given
 * neither.
 *
 * @example
 * registry.addGuard(readOnlyGuard(registry));
 */
export function readOnlyGuard(tools: Pick<ToolRegistry, 'get'> | readonly Tool[]): ToolGuard {
  const known = Array.isArray(tools) ? byName(tools as readonly Tool[]) : tools;
  const isRegistry = isRecord(known) && typeof known.get === 'function';
  expectThat(isRegistry, 'tools', 'a registry or an array of tools', tools);
  const isOther = ({ name }: ToolInput): boolean => known.get(name)?.readOnly !== true;
  return denyTools(isOther, 'only tools that read may be used here');
}

const byName = (tools: readonly Tool[]): Map<string, Tool> =>
  new Map(tools.map((tool) => [tool.spec().name, tool]));

function guardFor(
  kind: 'ask' | 'deny',
  which: CallMatcher,
  reason: string | undefined,
  otherwise: string,
): ToolGuard {
  const matches = matcherOf(which);
  const isReason = reason === undefined || typeof reason === 'string';
  expectThat(isReason, 'reason', 'a string or nothing', reason);
  const judge = (input: ToolInput): ToolDecision =>
    matches(input)
      ? { kind, reason: reason ?? `${describeValue(input.name)} ${otherwise}` }
      : { kind: 'allow' };
  return { check: (input) => Promise.resolve(input).then(judge) };
}

function matcherOf(which: CallMatcher): (input: ToolInput) => boolean {
  if (typeof which === 'function') {
    return (input) => {
      const answer: unknown = atOnce('which', which(input));
      const isAnswer = typeof answer === 'boolean';
      expectThat(isAnswer, 'which', 'a function that gives true or false', answer);
      return answer;
    };
  }
  expectThat(Array.isArray(which), 'which', 'an array of tool names', which);
  const names = new Set<unknown>(which);
  const stranger = [...names].find((name) => typeof name !== 'string' || name === '');
  expectThat(stranger === undefined && !names.has(undefined), 'which', 'tool names only', stranger);
  return ({ name }) => names.has(name);
}
