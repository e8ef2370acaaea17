import { AgentError, type SessionLog } from '@celestea/core';

const running = new WeakSet<SessionLog>();

/**
 * Takes a log for one turn, until {@link releaseLog} (X3): two turns that write into one log
 * would tear each other's calls from their results.
 *
 * @throws AgentError when a turn is running on this log
 */
export function claimLog(log: SessionLog): void {
  if (running.has(log)) throw new AgentError('a turn is already running on this session log');
  running.add(log);
}

/** Lets the next turn have it. */
export function releaseLog(log: SessionLog): void {
  running.delete(log);
}
