import { rmSync } from 'node:fs';

import { deriveMessagesFrom, type SessionEvent } from '@celestea/core';
import { JsonlSessionLog } from '@celestea/session';
import { expect, test } from 'vitest';

import { assertLogValid } from './support/agent-loop.ts';
import { Child, compiled } from './support/child.ts';
import { testFile } from './support/folder.ts';
import { firstRows, seededRandom } from './support/writer-rows.ts';

const script = compiled('writer');

const KILLS = Number(process.env['CELESTEA_KILLS'] ?? 40);
const SEED = Number(process.env['CELESTEA_SEED'] ?? 1);
/** Only a hang ends it by the clock. */
const timeout = 120_000 + 2_000 * KILLS;
/** One file lives through so many deaths, so that takeover and recovery are met again and again. */
const LIVES = 8;

interface Death {
  readonly firstTurn: number;
  /** Rows that the process had said to be durable. */
  readonly durable: number;
}

/** Lets a process write and kills it after so many of its flushes. */
async function killedWriter(path: string, seed: number, flushes: number): Promise<Death> {
  const child = new Child(script, [path, String(seed)]);
  const firstTurn = await child.line();
  for (let seen = 0; seen < flushes; seen += 1) {
    if ((await child.line()) === null) throw new Error((await child.exited).stderr);
  }
  const exit = await child.kill();
  expect(exit).toEqual({ code: null, signal: 'SIGKILL', stderr: '' });
  expect(firstTurn).toMatch(/^\d+$/);
  // All that came through before its death counts, also what nobody had read by then.
  const durable = /^durable (\d+)$/.exec(child.lastLine ?? '')?.[1] ?? 0;
  return { firstTurn: Number(firstTurn), durable: Number(durable) };
}

test('C4.2 X4 after many kills every durable row is there', { timeout }, async (context) => {
  const random = seededRandom(SEED);
  const some = (most: number): number => Math.floor(random() * (most + 1));
  const seen = { durable: 0, written: 0, torn: 0, interrupted: 0 };
  const path = testFile();
  let before: SessionEvent[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    if (kill % LIVES === 0) {
      rmSync(path, { force: true });
      before = [];
    }
    const seed = some(2 ** 31);
    const { firstTurn, durable } = await killedWriter(path, seed, some(3) === 0 ? 0 : some(60));
    const log = await JsonlSessionLog.open(path);
    const rows = log.events();
    const written = log.report.rows - before.length;
    const where = `kill ${String(kill)} of seed ${String(SEED)}`;
    expect(rows.slice(0, before.length), where).toEqual(before);
    expect(written, where).toBeGreaterThanOrEqual(durable);
    const expected = firstRows(seed, firstTurn, written);
    expect(rows.slice(before.length, log.report.rows), where).toEqual(expected);
    assertLogValid(rows);
    expect(log.deriveMessages()).toEqual(deriveMessagesFrom(rows));
    seen.durable += durable;
    seen.written += written;
    seen.torn += log.report.tornBytes > 0 ? 1 : 0;
    seen.interrupted += log.report.interruptedTurn === null ? 0 : 1;
    await log.close();
    before = rows;
  }
  expect(seen.durable).toBeGreaterThan(KILLS);
  await context.annotate(JSON.stringify({ kills: KILLS, ...seen }));
});
