import { IncrementalProjection } from '@celestea/core';

import { SessionLogDamagedError, type DamagedLine } from './errors.ts';
import type { FileSystem } from './file-system.ts';
import { readLines } from './jsonl-reader.ts';
import { LogState } from './log-state.ts';

/** What a log's file holds. */
export interface LogScan {
  readonly state: LogState;
  readonly projection: IncrementalProjection;
  /** How much of the file was read, in bytes. */
  readonly size: number;
  /** Lines that were read around. */
  readonly skipped: DamagedLine[];
  /** Where the torn end starts and how long it is; `null` when there is none. */
  torn: { offset: number; bytes: number } | null;
  /** Whether the last line, torn ones aside, is without its line break. */
  unterminated: boolean;
}

/** How many rows are read before other work in the process gets its turn. */
const ROWS_AT_A_TIME = 2000;

/**
 * Reads a whole log, keeping what the model sees of it and nothing else.
 *
 * @throws SessionLogDamagedError at the first damaged line, unless they are skipped
 */
export async function scanLog(
  path: string,
  fs: FileSystem,
  fd: number,
  onDamage: 'refuse' | 'skip',
): Promise<LogScan> {
  const scan: LogScan = {
    state: new LogState(),
    projection: new IncrementalProjection(),
    size: fs.fstatSync(fd).size,
    skipped: [],
    torn: null,
    unterminated: false,
  };
  for (const line of readLines(fs, fd, scan.size)) {
    switch (line.kind) {
      case 'row':
        scan.state.add(line.row, line.end);
        scan.projection.append(line.row);
        scan.unterminated = !line.terminated;
        if (scan.state.rows % ROWS_AT_A_TIME === 0) await othersTurn();
        break;
      case 'damaged':
        if (onDamage === 'refuse') throw new SessionLogDamagedError(path, line.damage);
        scan.skipped.push(line.damage);
        scan.unterminated = !line.terminated;
        break;
      case 'torn':
        scan.torn = { offset: line.offset, bytes: line.bytes };
        break;
      default:
        line satisfies never;
    }
  }
  return scan;
}

const othersTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });
