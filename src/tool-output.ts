import {
  describeValue,
  isRecord,
  MAX_JSON_LEVELS,
  type ToolCall,
  type ToolDecision,
  type ToolOutput,
} from '@celestea/core';

import { CANCELLED_BEFORE_EXECUTION } from './cancel.ts';
import { failureText } from './failure-text.ts';
import type { Turn } from './turn.ts';

/** The output of a call that gave none, for the reason given. */
export function failedOutput(call: ToolCall, error: string): ToolOutput {
  return { call_id: call.id, value: null, render: null, error, decision: null };
}

/** The output of a call that was cancelled before it gave one (L4.5), or was running by then (X17). */
export function cancelledOutput(call: ToolCall, started: boolean): ToolOutput {
  const output = failedOutput(call, CANCELLED_BEFORE_EXECUTION);
  if (started) output.abandoned = true;
  return output;
}

/** Why the calls of a reply that reached its length limit are not run (X8). */
export const ARGUMENTS_CUT_OFF: string =
  'not run: the reply reached its length limit, so the arguments may be incomplete. ' +
  'Send the call again, with shorter arguments.';

/** Why a call is not run whose arguments were cut (X32). */
export const ARGUMENTS_TOO_DEEP: string =
  `not run: the arguments are nested deeper than ${String(MAX_JSON_LEVELS)} levels and were cut. ` +
  'Send the call again, with flatter arguments.';

/** The output of a call that took too long (X13). */
export function timedOutOutput(call: ToolCall, limitMs: number): ToolOutput {
  return failedOutput(
    call,
    `timed out: the tool gave no result within ${String(limitMs)} ms; its outcome is not known`,
  );
}

/** The output of a call whose registry threw or rejected (L4.6). */
export function thrownOutput(call: ToolCall, thrown: unknown): ToolOutput {
  return failedOutput(call, failureText(thrown));
}

const NO_REASON = 'the tool failed without saying why';

/**
 * What a registry gave back, made fit for the log: filed under the id that was asked for,
 * every field of its type, and a failure always with a text (L4.6).
 */
export function filedOutput(
  call: ToolCall,
  returned: unknown,
  turn: Pick<Turn, 'diagnose'>,
): ToolOutput {
  if (!isRecord(returned)) {
    const message = `the tool registry returned ${describeValue(returned)} instead of a result`;
    turn.diagnose('malformed_output', `${call.name}: ${message}`);
    return failedOutput(call, message);
  }
  const output: Partial<Record<keyof ToolOutput, unknown>> = returned;
  if (output.call_id !== call.id) {
    const came = describeValue(output.call_id);
    turn.diagnose('foreign_call_id', `${call.name} answered ${came} where ${call.id} was asked`);
  }
  const { surface } = output;
  const filed: ToolOutput = {
    call_id: call.id,
    value: output.value ?? null,
    render: typeof output.render === 'string' ? output.render : null,
    error: errorText(output.error),
    decision: isDecision(output.decision) ? output.decision : null,
  };
  if (isRecord(surface)) filed.surface = surface;
  return filed;
}

/** A text stays as it is; an empty one would read as success (C4.5). */
function errorText(error: unknown): string | null {
  if (error === null || error === undefined) return null;
  return typeof error === 'string' ? error || NO_REASON : failureText(error);
}

function isDecision(value: unknown): value is ToolDecision {
  const kind = (value as Partial<ToolDecision> | null | undefined)?.kind;
  return kind === 'allow' || kind === 'deny' || kind === 'ask';
}
