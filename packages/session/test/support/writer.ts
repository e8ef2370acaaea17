/**
 * A process that writes into the log it is given until it is killed. It prints the number of
 * its first turn, and after each flush how many of its rows are durable. With an odd seed its
 * disk takes a few bytes at a time, so that it may die in the middle of a row.
 */
import * as fs from 'node:fs';

import { parseTurnNumber } from '@celestea/core';

import { JsonlSessionLog, type FileSystem } from '../../src/index.ts';
import { seededRandom, writerRows } from './writer-rows.ts';

const [path = '', seedText = ''] = process.argv.slice(2);
const seed = Number(seedText);
const random = seededRandom(seed + 1);
const most = seed % 2 === 0 ? Infinity : 64;
const fileSystem: FileSystem = {
  ...fs,
  writeSync: (fd, bytes, start, length) =>
    fs.writeSync(fd, bytes, start, Math.min(length, most)),
};
const log = await JsonlSessionLog.open(path, { fileSystem });
const firstTurn = parseTurnNumber(log.nextTurnId()) ?? 0;
process.stdout.write(`${String(firstTurn)}\n`);

let written = 0;
let untilFlush = 1;
for (const row of writerRows(seed, firstTurn)) {
  log.append(row);
  written += 1;
  untilFlush -= 1;
  if (untilFlush > 0) continue;
  await log.flush();
  process.stdout.write(`durable ${String(written)}\n`);
  untilFlush = 1 + Math.floor(random() * 6);
}
