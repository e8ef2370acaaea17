import { readdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { assertLogValid } from '@celestea/agent-loop/testing';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';

import { quickFile } from '../../packages/session/test/support/folder.ts';
import {
  cutAt,
  filePlans,
  intactRows,
  readBack,
  written,
  zeroedAt,
  type Written,
} from './support/reopen-files.ts';
import { assertRecovers, assertReported } from './support/reopen-laws.ts';

/** Files a test; of those that are cut at every byte there is one where the others have fifty. */
const RUNS = Number(process.env['CELESTEA_RUNS'] ?? 40);
const some = { numRuns: RUNS };
const few = { numRuns: Math.ceil(RUNS / 50) };
/** Only a hang ends a test by the clock. */
vi.setConfig({ testTimeout: 120_000 + 2_000 * RUNS });

/** A place in a file of any length: thousandths of it. */
const place = fc.nat(1000);
const at = (thousandths: number, length: number): number =>
  Math.floor((thousandths * length) / 1000);

/** Nothing but the log is left in its folder: no lock, no file half made. */
const onlyFileOf = (path: string): void => {
  expect(readdirSync(dirname(path))).toEqual(['log.jsonl']);
};

async function cutAndRecover(path: string, file: Written, cut: number): Promise<Written> {
  writeFileSync(path, file.bytes.subarray(0, cut));
  try {
    return readBack(path, file.author, await assertRecovers(path, cutAt(file, cut), file.author));
  } catch (error) {
    throw new Error(`cut at byte ${String(cut)} of ${String(file.bytes.length)}`, { cause: error });
  }
}

test('C4.2 C4.4 C4.6 X11 cut at every byte, reopened, gone on with, reopened', async () => {
  const path = quickFile();
  await fc.assert(
    fc.asyncProperty(filePlans, async (plan) => {
      const file = await written(path, plan);
      if (file.author === 'the loop') assertLogValid(file.rows);
      for (let cut = 0; cut <= file.bytes.length; cut += 1) await cutAndRecover(path, file, cut);
      onlyFileOf(path);
    }),
    few,
  );
});

test('C4.2 C4.4 C4.6 X11 a log lives through one cut after the other', async () => {
  const path = quickFile();
  await fc.assert(
    fc.asyncProperty(
      filePlans,
      fc.array(place, { minLength: 1, maxLength: 5 }),
      async (plan, deaths) => {
        let file = await written(path, plan);
        for (const death of deaths) {
          const cut = at(1000 - Math.floor(death / 3), file.bytes.length); // in the newest third
          file = await cutAndRecover(path, file, cut);
        }
        onlyFileOf(path);
      },
    ),
    some,
  );
});

test('C4.4 a tail of zeros, at a cut anywhere, is removed with the row it tore', async () => {
  const path = quickFile();
  await fc.assert(
    fc.asyncProperty(
      filePlans,
      place,
      fc.integer({ min: 1, max: 5000 }),
      async (plan, where, zeros) => {
        const file = await written(path, plan);
        const cut = at(where, file.bytes.length);
        writeFileSync(path, Buffer.concat([file.bytes.subarray(0, cut), Buffer.alloc(zeros)]));
        await assertRecovers(path, zeroedAt(file, cut, zeros), file.author);
        onlyFileOf(path);
      },
    ),
    some,
  );
});

test('C4.4 C4.6 flipped bytes are reported or read; the lines beside them are kept', async () => {
  const path = quickFile();
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(
      filePlans,
      fc.array(fc.tuple(place, fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 3 }),
      async (plan, flips) => {
        const file = await written(path, plan);
        const bytes = Buffer.from(file.bytes);
        const changed = flips.map(([where]) => at(where, bytes.length - 1));
        flips.forEach(([, mask], index) => {
          const flipped = changed[index] ?? 0;
          bytes.writeUInt8(bytes.readUInt8(flipped) ^ mask, flipped);
        });
        writeFileSync(path, bytes);
        const opening = await assertReported(path, intactRows(file, changed));
        if (opening.refused) refused += 1;
        onlyFileOf(path);
      },
    ),
    some,
  );
  expect(refused).toBeGreaterThan(RUNS / 10);
});

test('C4.2 C4.4 C4.6 a tail written twice is read, or reported where it tore a line', async () => {
  const path = quickFile();
  await fc.assert(
    fc.asyncProperty(filePlans, place, fc.boolean(), async (plan, where, atLine) => {
      const file = await written(path, plan);
      const row = at(where, file.rows.length - 1);
      const from = atLine ? (file.ends[row - 1] ?? 0) : at(where, file.bytes.length);
      writeFileSync(path, Buffer.concat([file.bytes, file.bytes.subarray(from)]));
      const { rows } = await assertReported(path, file.rows);
      expect(rows.slice(0, file.rows.length)).toEqual(file.rows);
      if (atLine) expect(rows).toEqual([...file.rows, ...file.rows.slice(row)]);
      onlyFileOf(path);
    }),
    some,
  );
});
