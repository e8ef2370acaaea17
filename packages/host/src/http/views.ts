import type {
  ContextReport,
  PendingApproval,
  RunningState,
  SessionSummary,
} from '../sessions/index.ts';
import type { WireApproval, WireContext, WireRunning, WireSession } from './wire.ts';

/** A session, as it is told of over HTTP. */
export function viewSession(summary: SessionSummary, running: boolean): WireSession {
  const { id, title, createdMs, changedMs, bytes, turns } = summary;
  const known = { id, title, created_ms: createdMs, changed_ms: changedMs, bytes, running };
  return turns === undefined ? known : { ...known, turns };
}

/** A turn that runs, as it is told of over HTTP. */
export function viewRunning(running: RunningState | null): WireRunning | null {
  if (running === null) return null;
  const { turn, input, startedMs, step, reply, waiting } = running;
  return { turn, input, started_ms: startedMs, step, reply, waiting };
}

/** A question, as it is told of over HTTP. */
export function viewApproval(pending: PendingApproval): WireApproval {
  const { id, callId, tool, args, reason, askedMs } = pending;
  return { id, call_id: callId, tool, args, reason, asked_ms: askedMs };
}

/** The next request; what only a provider understands is in it, as the model gets it. */
export function viewContext({ request, tokens, window, budget }: ContextReport): WireContext {
  const { system } = request;
  const messages = request.messages.map((message) => ({ ...message }));
  const tools = request.tools.map((tool) => ({ ...tool }));
  return { request: { system, messages, tools }, tokens, window, budget };
}
