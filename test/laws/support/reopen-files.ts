import { readFileSync, rmSync } from 'node:fs';

import type { SessionEvent } from '@celestea/core';
import { JsonlSessionLog } from '@celestea/session';
import fc from 'fast-check';

import type { Author, LeftOver } from './reopen-laws.ts';
import { foreignRows, play, worlds, type World } from './reopen-worlds.ts';

/** What is written into a log before its file is harmed. */
export type FilePlan =
  | { readonly author: 'the loop'; readonly world: World }
  | { readonly author: 'anybody'; readonly rows: readonly SessionEvent[] };

export const filePlans: fc.Arbitrary<FilePlan> = fc.oneof(
  { arbitrary: worlds.map((world) => ({ author: 'the loop' as const, world })), weight: 3 },
  foreignRows.map((rows) => ({ author: 'anybody' as const, rows })),
);

/** What a log's file holds. */
export interface Written {
  readonly author: Author;
  readonly bytes: Uint8Array;
  readonly rows: readonly SessionEvent[];
  /** Where each row ends in the file, its line break counted. */
  readonly ends: readonly number[];
}

const LINE_FEED = 0x0a;

/** Makes the file anew and writes into it through a log. */
export async function written(path: string, plan: FilePlan): Promise<Written> {
  rmSync(path, { force: true });
  const log = await JsonlSessionLog.open(path);
  try {
    if (plan.author === 'the loop') await play(plan.world, log);
    else for (const row of plan.rows) log.append(row);
  } finally {
    await log.close();
  }
  return readBack(path, plan.author, log.events());
}

/** A file whose rows are known. */
export function readBack(
  path: string,
  author: Author,
  rows: readonly SessionEvent[],
): Written {
  const bytes = new Uint8Array(readFileSync(path));
  const ends = [...bytes.entries()].flatMap(([at, byte]) => (byte === LINE_FEED ? [at + 1] : []));
  if (ends.length !== rows.length) throw new Error('a row is not one line');
  return { author, bytes, rows, ends };
}

/** What is left of a file that was cut: of the last row the line break alone may be missing. */
export function cutAt(file: Written, cut: number): LeftOver {
  const rows = file.ends.filter((end) => end - 1 <= cut).length;
  return { ...firstRows(file, rows), torn: Math.max(0, cut - (file.ends[rows - 1] ?? 0)) };
}

/** The same where NUL stands behind the cut. */
export function zeroedAt(file: Written, cut: number, zeros: number): LeftOver {
  const left = cutAt(file, cut);
  return { ...left, torn: left.torn + zeros };
}

const firstRows = (file: Written, rows: number): Pick<LeftOver, 'rows' | 'text'> => ({
  rows: file.rows.slice(0, rows),
  text: new TextDecoder().decode(file.bytes.subarray(0, file.ends[rows - 1] ?? 0)),
});

/** The rows whose lines, and the line breaks before them, have none of the changed bytes. */
export const intactRows = ({ rows, ends }: Written, changed: readonly number[]): SessionEvent[] =>
  rows.filter((_, index) => {
    const start = (ends[index - 1] ?? 0) - 1;
    const end = ends[index] ?? 0;
    return !changed.some((at) => at >= start && at < end);
  });
