/** A line of a log that is no row (and is not the torn end of the file). */
export interface DamagedLine {
  /** Counted from 1. */
  readonly line: number;
  /** Where the line starts, in bytes. */
  readonly offset: number;
  /** How long it is, in bytes, its line break not counted. */
  readonly bytes: number;
  readonly reason: string;
}

/** A log has a damaged line. Nothing was changed; `onDamage: 'skip'` reads around it. */
export class SessionLogDamagedError extends Error {
  override readonly name = 'SessionLogDamagedError';
  readonly path: string;
  readonly damage: DamagedLine;

  constructor(path: string, damage: DamagedLine) {
    const { line, offset, reason } = damage;
    super(`${path} is damaged in line ${String(line)}, at byte ${String(offset)}: ${reason}`);
    this.path = path;
    this.damage = damage;
  }
}

/** Who holds the lock of a log. */
export interface LockHolder {
  readonly pid: number;
  readonly host: string;
  /** When it took the lock, as an ISO 8601 time. */
  readonly since: string;
}

/** A log is open for writing elsewhere. Opening it read-only is always possible. */
export class SessionLogInUseError extends Error {
  override readonly name = 'SessionLogInUseError';
  readonly path: string;
  /** `null` when the lock file does not say. */
  readonly holder: LockHolder | null;

  constructor(path: string, lockPath: string, holder: LockHolder | null) {
    const who =
      holder === null
        ? 'somebody'
        : `process ${String(holder.pid)} on ${holder.host} since ${holder.since}`;
    super(`${path} is in use by ${who}; if that is wrong, remove ${lockPath}`);
    this.path = path;
    this.holder = holder;
  }
}

/**
 * A log that cannot be written any more: it was closed, opened read-only, changed by somebody
 * else, or its disk failed. What was durable by then can still be read.
 */
export class SessionLogBrokenError extends Error {
  override readonly name = 'SessionLogBrokenError';
  readonly path: string;

  constructor(path: string, reason: string, options?: ErrorOptions) {
    super(`${path} cannot be written: ${reason}`, options);
    this.path = path;
  }
}
