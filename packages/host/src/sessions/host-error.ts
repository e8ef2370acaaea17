import { errorMessage } from '@celestea/agent-loop';
import {
  SessionLogBrokenError,
  SessionLogDamagedError,
  SessionLogInUseError,
} from '@celestea/session';

/**
 * Why a host did not do what was asked.
 *
 * - `not_found`: there is no such session
 * - `busy`: a turn runs, or another process writes the session
 * - `idle`: no turn runs
 * - `damaged`: the log of the session has a line that is no row
 * - `invalid`: what was asked makes no sense
 * - `gone`: it was there, and is answered or closed
 * - `failed`: the disk or the session itself is at fault
 */
export type HostErrorCode =
  | 'not_found'
  | 'busy'
  | 'idle'
  | 'damaged'
  | 'invalid'
  | 'gone'
  | 'failed';

/** What a host refuses or fails at. The message is for people and names no path of the host. */
export class HostError extends Error {
  override readonly name = 'HostError';
  readonly code: HostErrorCode;

  constructor(code: HostErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** What a session's log threw, for people; what it threw is the `cause`. */
export function logFailure(id: string, error: unknown): HostError {
  if (error instanceof HostError) return error;
  return new HostError(codeOf(error), `session ${id} ${logFault(error)}`, { cause: error });
}

/** What a log is asked to do; rejects with a {@link logFailure}. */
export async function withLogFaults<T>(id: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw logFailure(id, error);
  }
}

function codeOf(error: unknown): HostErrorCode {
  if (error instanceof SessionLogInUseError) return 'busy';
  return error instanceof SessionLogDamagedError ? 'damaged' : 'failed';
}

/** What to do about a damaged log. */
const REMEDY =
  '`celestea check` says what is wrong with its log, and a fork keeps what is before the damage';

/** What is wrong with a log, as the end of a sentence, without its path. */
function logFault(error: unknown): string {
  if (error instanceof SessionLogInUseError) {
    const { holder } = error;
    const who = holder === null ? 'somebody else' : `process ${String(holder.pid)} on ${holder.host}`;
    return `is in use by ${who}`;
  }
  if (error instanceof SessionLogDamagedError) {
    const { line, reason } = error.damage;
    return `is damaged in line ${String(line)}: ${reason}; ${REMEDY}`;
  }
  if (error instanceof SessionLogBrokenError) return error.message.replace(`${error.path} `, '');
  const { code } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  return `cannot be used: ${typeof code === 'string' ? code : errorMessage(error)}`;
}
