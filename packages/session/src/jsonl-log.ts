import {
  definePlugin,
  describeValue,
  expectThat,
  formatTurnId,
  IncrementalProjection,
  isRecord,
  parseSessionEvent,
  serializeSessionEvent,
  SESSION_LOG_SERVICE,
  type Message,
  type Plugin,
  type SessionEvent,
  type SessionLog,
} from '@celestea/core';

import { DurableFile } from './durable-file.ts';
import { SessionLogBrokenError, SessionLogDamagedError, type DamagedLine } from './errors.ts';
import { lockFile, realPath } from './file-lock.ts';
import { nodeFileSystem, type FileSystem } from './file-system.ts';
import { forkFile } from './fork-file.ts';
import { readLines } from './jsonl-reader.ts';
import { LogState } from './log-state.ts';
import { scanLog, type LogScan } from './scan-log.ts';

type OnDamage = 'refuse' | 'skip';

/** How a log is opened. Every field may be left out. */
export interface JsonlSessionLogOptions {
  /** Only to read: takes no lock, changes no byte, and cannot append. */
  readOnly?: boolean;
  /** A damaged line stays as it is; refuse to open (the default), or read around it. */
  onDamage?: OnDamage;
  /** The disk; for tests. */
  fileSystem?: FileSystem;
}

/** What opening a log found and did. */
export interface OpenReport {
  /** Rows that were read. */
  readonly rows: number;
  /** Bytes that a write left which was cut off; removed unless the log is read-only. */
  readonly tornBytes: number;
  /** Lines that were read around. */
  readonly skipped: readonly DamagedLine[];
  /** The turn that was running when its process died; ended unless the log is read-only. */
  readonly interruptedTurn: string | null;
}

interface Opened {
  readonly path: string;
  readonly fs: FileSystem;
  readonly scan: LogScan;
  /** `null` when the log is read-only. */
  readonly file: DurableFile | null;
  readonly unlock: () => void;
}

/**
 * A session log in a file, one JSON row a line (C4.4). A row is written when it is appended
 * and durable when `flush` has settled (X4). One process writes at a time.
 *
 * Opening cuts off a last row whose write was torn (the start of one row, or NUL bytes), gives a
 * last line its line break, and ends a turn that was running when its process died: calls without
 * a result are answered, and no tool is run again. `report` says what was found.
 *
 * @example
 * const log = await JsonlSessionLog.open('chat.jsonl');
 * ctx.provide(SESSION_LOG_SERVICE, log);
 * // … turns …
 * await log.close();
 */
export class JsonlSessionLog implements SessionLog {
  /** Absolute, with symbolic links resolved. */
  readonly path: string;
  readonly report: OpenReport;
  readonly #fs: FileSystem;
  readonly #file: DurableFile | null;
  readonly #unlock: () => void;
  #skipped: readonly DamagedLine[];
  /** How much of the file was there, in bytes; a read-only log stays what it was then. */
  readonly #openedSize: number;
  #state: LogState;
  #projection: IncrementalProjection;
  #nextTurn: number;

  private constructor({ path, fs, scan, file, unlock }: Opened) {
    this.path = path;
    this.#fs = fs;
    this.#file = file;
    this.#unlock = unlock;
    this.#skipped = scan.skipped;
    this.#openedSize = scan.size;
    this.#state = scan.state;
    this.#projection = scan.projection;
    this.#nextTurn = scan.state.nextTurn;
    this.report = {
      rows: scan.state.rows,
      tornBytes: scan.torn?.bytes ?? 0,
      skipped: [...scan.skipped],
      interruptedTurn: scan.state.openTurn,
    };
  }

  /**
   * Opens a log; without `readOnly` a file that is not there is made.
   *
   * @throws SessionLogInUseError when a living process writes it
   * @throws SessionLogDamagedError when a line is damaged and `onDamage` is not `skip`
   */
  static async open(path: string, options: JsonlSessionLogOptions = {}): Promise<JsonlSessionLog> {
    checkPath(path);
    checkOptions(options);
    const { readOnly = false, onDamage = 'refuse', fileSystem: fs = nodeFileSystem } = options;
    const file = realPath(path);
    if (readOnly) return JsonlSessionLog.#openToRead(file, fs, onDamage);
    const unlock = lockFile(file);
    try {
      return await JsonlSessionLog.#openToWrite(file, fs, onDamage, unlock);
    } catch (error) {
      unlock();
      throw error;
    }
  }

  static async #openToRead(
    path: string,
    fs: FileSystem,
    onDamage: OnDamage,
  ): Promise<JsonlSessionLog> {
    const fd = fs.openSync(path, 'r');
    try {
      const scan = await scanLog(path, fs, fd, onDamage);
      return new JsonlSessionLog({ path, fs, scan, file: null, unlock: () => undefined });
    } finally {
      fs.closeSync(fd);
    }
  }

  static async #openToWrite(
    path: string,
    fs: FileSystem,
    onDamage: OnDamage,
    unlock: () => void,
  ): Promise<JsonlSessionLog> {
    const fd = fs.openSync(path, 'a+');
    try {
      const scan = await scanLog(path, fs, fd, onDamage);
      const file = new DurableFile(path, fd, scan.size, fs);
      const log = new JsonlSessionLog({ path, fs, scan, file, unlock });
      log.#recover(file, scan);
      await file.flush();
      return log;
    } catch (error) {
      fs.closeSync(fd);
      throw error;
    }
  }

  /**
   * Writes one row. Throws a `TypeError`, with nothing written, when it could not be read
   * back; what the disk throws when that takes nothing, and the log goes on then.
   *
   * @throws SessionLogBrokenError when the log is read-only, closed or broken
   */
  append(event: SessionEvent): void {
    const file = this.#writable();
    const line = `${serializeSessionEvent(event)}\n`;
    const written = readBack(line);
    file.append(line);
    this.#add(written, file.size);
  }

  /**
   * Reads every row from the file, up to where it was opened when that was read-only; what
   * stands in skipped lines is left out.
   *
   * @throws SessionLogDamagedError when a line was damaged since
   */
  events(): SessionEvent[] {
    const rows: SessionEvent[] = [];
    const fd = this.#fs.openSync(this.path, 'r');
    try {
      for (const line of readLines(this.#fs, fd, this.#file?.size ?? this.#openedSize)) {
        if (line.kind === 'row') rows.push(line.row);
        if (line.kind === 'damaged') this.#checkKnown(line.damage);
      }
    } finally {
      this.#fs.closeSync(fd);
    }
    return rows;
  }

  deriveMessages(): Message[] {
    return this.#projection.messages();
  }

  /** Removes every row from the file. Turn ids go on. */
  clear(): void {
    this.#writable().truncate(0);
    this.#state = new LogState();
    this.#projection = new IncrementalProjection();
    this.#skipped = [];
  }

  nextTurnId(): string {
    this.#writable();
    const id = formatTurnId(this.#nextTurn);
    this.#nextTurn += 1;
    return id;
  }

  /**
   * Settles when every row appended before is durable. Calls share the disk's rounds. Rejects
   * when the disk fails or somebody else changed the file, and the log is broken then.
   */
  flush(): Promise<void> {
    return this.#file === null ? Promise.resolve() : this.#file.flush();
  }

  /** Makes every row durable, closes the file and lets go of the lock. */
  async close(): Promise<void> {
    try {
      await this.#file?.close();
    } finally {
      this.#unlock();
    }
  }

  /**
   * Starts a new log at `path` with the rows up to the end of `turnId`, and opens it. Rejects
   * with a `RangeError` when that turn has not ended in this log, and when there is a file at
   * `path` already. Skipped lines are left out.
   */
  async fork(path: string, turnId: string): Promise<JsonlSessionLog> {
    checkPath(path);
    const end = this.#state.turnEnd(turnId);
    if (end === undefined) {
      const expected = `turnId: expected a turn that ended in ${this.path}`;
      throw new RangeError(`${expected}, got ${describeValue(turnId)}`);
    }
    forkFile({ from: this.path, to: path, end, skipped: this.#skipped });
    return JsonlSessionLog.open(path, { fileSystem: this.#fs });
  }

  #writable(): DurableFile {
    if (this.#file !== null) return this.#file;
    throw new SessionLogBrokenError(this.path, 'it was opened read-only');
  }

  #add(event: SessionEvent, end: number): void {
    this.#state.add(event, end);
    this.#projection.append(event);
  }

  #checkKnown(damage: DamagedLine): void {
    if (this.#skipped.some(({ offset }) => offset === damage.offset)) return;
    throw new SessionLogDamagedError(this.path, damage);
  }

  /** Brings the file into the state that a turn expects. */
  #recover(file: DurableFile, { torn, unterminated, state }: LogScan): void {
    if (torn !== null) file.truncate(torn.offset);
    if (unterminated) file.append('\n');
    for (const row of state.closingRows()) this.append(row);
  }
}

/** What a line says, which is not always what was to be written. */
function readBack(line: string): SessionEvent {
  const read = parseSessionEvent(line);
  if (read.ok) return read.event;
  throw new TypeError(`event: no session row: ${read.errors.join('; ')}`);
}

/** Provides an open log under `SESSION_LOG_SERVICE`. Closing it stays with who opened it. */
export function jsonlSessionLogPlugin(log: JsonlSessionLog): Plugin {
  const expected = 'an open JsonlSessionLog (open gives a promise: await it)';
  expectThat(log instanceof JsonlSessionLog, 'log', expected, log);
  return definePlugin('celestea.session.JsonlSessionLog', (ctx) => {
    ctx.provide(SESSION_LOG_SERVICE, log);
  });
}

function checkPath(path: unknown): void {
  expectThat(typeof path === 'string' && path !== '', 'path', 'a file path', path);
}

function checkOptions(options: unknown): void {
  expectThat(isRecord(options), 'options', 'an object such as { readOnly: true }', options);
  const { readOnly, onDamage, fileSystem } = options;
  const isFlag = readOnly === undefined || typeof readOnly === 'boolean';
  expectThat(isFlag, 'readOnly', 'a boolean', readOnly);
  const damages: readonly unknown[] = [undefined, 'refuse', 'skip'];
  expectThat(damages.includes(onDamage), 'onDamage', '"refuse" or "skip"', onDamage);
  const isDisk = fileSystem === undefined || isRecord(fileSystem);
  expectThat(isDisk, 'fileSystem', 'an object with every method of FileSystem', fileSystem);
}
