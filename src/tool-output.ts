import { describeValue, type ToolCall, type ToolDecision, type ToolOutput } from '@celestea/core';

import { CANCELLED_BEFORE_EXECUTION, errorMessage } from './cancel.ts';

/** The output of a call that gave none, for the reason given. */
export function failedOutput(call: ToolCall, error: string): ToolOutput {
  return { call_id: call.id, value: null, render: null, error, decision: null };
}

/** The output of a call that was cancelled before it gave one (L4.5). */
export function cancelledOutput(call: ToolCall): ToolOutput {
  return failedOutput(call, CANCELLED_BEFORE_EXECUTION);
}

/** The output of a call whose registry threw or rejected (L4.6). */
export function thrownOutput(call: ToolCall, thrown: unknown): ToolOutput {
  return failedOutput(call, errorMessage(thrown) || NO_REASON);
}

const NO_REASON = 'the tool failed without saying why';

/**
 * What a registry gave back, made fit for the log: filed under the id that was asked for,
 * every field of its type, and a failure always with a text (L4.6).
 */
export function filedOutput(call: ToolCall, returned: unknown): ToolOutput {
  if (typeof returned !== 'object' || returned === null || Array.isArray(returned)) {
    return failedOutput(
      call,
      `the tool registry returned ${describeValue(returned)} instead of a result`,
    );
  }
  try {
    const output = returned as Partial<Record<keyof ToolOutput, unknown>>;
    return {
      call_id: call.id,
      value: output.value ?? null,
      render: typeof output.render === 'string' ? output.render : null,
      error: errorText(output.error),
      decision: isDecision(output.decision) ? output.decision : null,
    };
  } catch (error) {
    return thrownOutput(call, error); // a getter of the output that throws
  }
}

function errorText(error: unknown): string | null {
  if (error === null || error === undefined) return null;
  return errorMessage(error) || NO_REASON;
}

function isDecision(value: unknown): value is ToolDecision {
  const kind = (value as Partial<ToolDecision> | null | undefined)?.kind;
  return kind === 'allow' || kind === 'deny' || kind === 'ask';
}
