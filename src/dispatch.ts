import type { ToolCall, ToolCallRow, ToolOutput, ToolResultRow } from '@celestea/core';

import type { Cancellation, Follower } from './cancel.ts';
import { toolCallEvent, toolResultEvent } from './events.ts';
import type { PlannedCall } from './planned-call.ts';
import { StepRetention } from './step-retention.ts';
import { activeLimit, WaitLimit } from './timeouts.ts';
import {
  cancelledOutput,
  failedOutput,
  filedOutput,
  thrownOutput,
  timedOutOutput,
} from './tool-output.ts';
import type { Turn } from './turn.ts';

/** One call on its way to its result. */
interface Pending {
  readonly call: ToolCall;
  started: boolean;
  /** Nobody waits for its result any more: what it says from now on is too late. */
  closed: boolean;
  /** The first output it gets is the one that counts. */
  output: ToolOutput | null;
}

/**
 * Runs the calls of one step and answers every one of them, whatever happens: a tool's
 * failure, a cancel, a broken seam (L4.4 to L4.6). Throws what a broken seam throws.
 */
export async function answerCalls(turn: Turn, planned: readonly PlannedCall[]): Promise<void> {
  const recorded: Pending[] = [];
  let answered = 0;
  try {
    for (const { call, refusal } of planned) {
      recordCall(turn, call);
      const output = refusal === null ? null : failedOutput(call, refusal);
      recorded.push({ call, started: false, closed: false, output });
    }
    // an intent is on disk before its tool acts (X4), and who was told of it may still cancel
    await turn.flush();
    const retention = turn.seams.retention === null ? null : new StepRetention(turn);
    // at least one call at a time; a fraction is rounded down (L4.4)
    const width = Math.floor(Math.max(1, turn.config.max_parallel_tool_calls || 1));
    while (answered < recorded.length) {
      const batch = recorded.slice(answered, answered + width);
      if (turn.breather.isDue()) await turn.breather.rest();
      await runBatch(turn, batch);
      for (const pending of batch) {
        const { call } = pending;
        const output = finalOutput(turn, pending);
        recordResult(turn, retention === null ? output : await retention.bound(call, output));
        answered += 1;
      }
    }
  } catch (error) {
    answerAfterFault(turn, recorded.slice(answered));
    throw error;
  }
}

/** Starts the calls of a batch and waits for all of them, or for a cancel. */
function runBatch(turn: Turn, batch: readonly Pending[]): Promise<void> {
  const open = batch.filter(({ output }) => output === null);
  return settledOrCancelled(turn.cancellation, open, (pending, settled) => {
    if (turn.cancelled) settled(); // also from inside a tool that was just started
    else startCall(turn, pending, settled);
  });
}

/**
 * Starts calls and waits until every one has settled, or for a cancel, which closes the
 * calls. It has to hear of that ahead of their tools, and acts a microtask late: what had settled
 * before counts, what settles because of it does not.
 */
function settledOrCancelled(
  { followers }: Cancellation,
  calls: readonly Pending[],
  start: (pending: Pending, settled: () => void) => void,
): Promise<void> {
  return new Promise((resolve) => {
    let left = calls.length + 1;
    const follower: Follower = {
      abort() {
        queueMicrotask(() => {
          for (const pending of calls) pending.closed = true;
          resolve();
        });
      },
    };
    const settled = (): void => {
      left -= 1;
      if (left > 0) return;
      followers.delete(follower);
      resolve();
    };
    followers.add(follower);
    for (const pending of calls) start(pending, settled);
    settled();
  });
}

/** Calls `settled` when it is over. A tool that takes longer than `toolMs` is left behind (X13). */
function startCall(turn: Turn, pending: Pending, settled: () => void): void {
  pending.started = true;
  const limitMs = activeLimit(turn.options.timeouts?.toolMs);
  if (limitMs === null) {
    void dispatchCall(turn, pending, turn.cancellation, settled);
    return;
  }
  const limit = new WaitLimit(turn.cancellation, limitMs);
  limit.begin();
  void settledOrCancelled(limit, [pending], (_, ended) => {
    void dispatchCall(turn, pending, limit, ended);
  }).then(() => {
    limit.stop();
    if (limit.expired && !turn.cancelled) pending.output ??= timedOutOutput(pending.call, limitMs);
    settled();
  });
}

/** Calls `settled` when it is over; a registry that throws or rejects is that call's failure (L4.6). */
async function dispatchCall(
  turn: Turn,
  pending: Pending,
  cancellation: Cancellation,
  settled: () => void,
): Promise<void> {
  const { call } = pending;
  try {
    const input = { call_id: call.id, name: call.name, args: call.args };
    const output: unknown = await turn.seams.tools.dispatch(input, cancellation.options);
    if (!pending.closed) pending.output ??= filedOutput(call, output, turn);
  } catch (error) {
    if (!pending.closed) pending.output ??= thrownOutput(call, error);
  }
  settled();
}

/** What is written of a call, now that nobody waits for it any longer. */
function finalOutput(turn: Turn, pending: Pending): ToolOutput {
  const { call, started, output } = pending;
  if (output !== null) return output;
  if (started) turn.diagnose('tool_abandoned', `${call.name} (${call.id}) was still running`);
  pending.output = cancelledOutput(call, started);
  return pending.output;
}

function recordCall(turn: Turn, call: ToolCall): void {
  const { id, name, args, meta } = call;
  const row: ToolCallRow = { type: 'tool_call', id, name, args };
  if (meta !== undefined) row.meta = meta;
  turn.record(row, toolCallEvent(call));
}

function recordResult(turn: Turn, output: ToolOutput): void {
  const { call_id, value, error, surface, abandoned } = output;
  const row: ToolResultRow = { type: 'tool_result', id: call_id, value, error };
  if (surface !== undefined) row.surface = surface;
  if (abandoned !== undefined) row.abandoned = abandoned;
  turn.record(row, toolResultEvent(output));
}

/** A seam broke: what can still be answered is, so that the log stays usable. */
function answerAfterFault(turn: Turn, unanswered: readonly Pending[]): void {
  for (const pending of unanswered) {
    try {
      recordResult(turn, finalOutput(turn, pending));
    } catch {
      // the first fault is the one that is reported
    }
  }
}
