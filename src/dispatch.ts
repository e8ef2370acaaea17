import type { ToolCall, ToolOutput } from '@celestea/core';

import { ignore, raceAbort } from './cancel.ts';
import { toolCallEvent, toolResultEvent } from './events.ts';
import { cancelledOutput, filedOutput, thrownOutput } from './tool-output.ts';
import type { Turn } from './turn.ts';

/** One call on its way to its result. */
interface Pending {
  readonly call: ToolCall;
  output: ToolOutput | null;
}

/**
 * Runs the calls of one step and answers every one of them, whatever happens: a tool's
 * failure, a cancel, a broken seam (L4.4 to L4.6).
 */
export async function answerCalls(turn: Turn, calls: readonly ToolCall[]): Promise<void> {
  const unanswered: Pending[] = [];
  try {
    for (const call of calls) {
      turn.record({ type: 'tool_call', id: call.id, name: call.name, args: call.args }, toolCallEvent(call));
      unanswered.push({ call, output: null });
    }
    const width = batchWidth(turn.config.max_parallel_tool_calls);
    while (unanswered.length > 0) {
      const batch = unanswered.slice(0, width);
      await runBatch(turn, batch);
      for (const pending of batch) {
        recordResult(turn, pending);
        unanswered.shift();
      }
    }
  } catch (error) {
    answerAfterFault(turn, unanswered);
    throw error;
  }
}

/** At least one call at a time; a fraction is rounded down (L4.4). */
function batchWidth(limit: number): number {
  return limit >= 1 ? Math.floor(limit) : 1;
}

/** Starts the calls of a batch and waits for all of them, or for a cancel. */
async function runBatch(turn: Turn, batch: readonly Pending[]): Promise<void> {
  const running: Promise<void>[] = [];
  for (const pending of batch) {
    if (turn.cancelled) break; // from inside a tool that was just started
    running.push(startCall(turn, pending));
  }
  if (running.length > 0) await raceAbort(turn.signal, Promise.all(running));
}

/** Never rejects: a registry that throws or rejects is that call's failure (L4.6). */
function startCall(turn: Turn, pending: Pending): Promise<void> {
  const { call } = pending;
  const fail = (error: unknown): void => {
    pending.output = thrownOutput(call, error);
  };
  try {
    const input = { call_id: call.id, name: call.name, args: call.args };
    const returned: unknown = turn.seams.tools.dispatch(input, { signal: turn.signal });
    return Promise.resolve(returned).then((output) => {
      pending.output = filedOutput(call, output);
    }, fail);
  } catch (error) {
    fail(error);
    return Promise.resolve();
  }
}

function recordResult(turn: Turn, { call, output }: Pending): void {
  const result = output ?? cancelledOutput(call);
  turn.record(
    { type: 'tool_result', id: call.id, value: result.value, error: result.error },
    toolResultEvent(result),
  );
}

/** A seam broke: what can still be answered is, so that the log stays usable. */
function answerAfterFault(turn: Turn, unanswered: readonly Pending[]): void {
  for (const pending of unanswered) {
    try {
      recordResult(turn, pending);
    } catch {
      ignore(); // the first fault is the one that is reported
    }
  }
}
