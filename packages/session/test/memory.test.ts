import { expect, test } from 'vitest';

import { Child, compiled } from './support/child.ts';
import { testFile } from './support/folder.ts';

const script = compiled('big-log');

/** With `CELESTEA_SLOW=1` the log has ten times the rows; the bounds grow with it. */
const scale = process.env['CELESTEA_SLOW'] === '1' ? 10 : 1;
const ROWS = 20_000 * scale;
const MEGABYTES = 30 * scale;
const TURNS = ROWS / 16;

test(`C4.7 a log of ${String(ROWS)} rows opens in little memory`, async ({ annotate }) => {
  const heap = `--max-old-space-size=${String(40 + 36 * scale)}`; // 400 for the large one
  const args = [testFile(), String(ROWS), String(MEGABYTES)];
  const child = new Child(script, args, [heap, '--expose-gc']);
  const line = await child.line();
  expect(await child.exited).toEqual({ code: 0, signal: null, stderr: '' });
  const report = JSON.parse(line ?? '') as Record<string, number>;
  await annotate(line ?? '');
  expect(report).toMatchObject({ rows: ROWS, collected: true, nextTurn: `turn-${String(TURNS)}` });
  expect(report['messages']).toBe(TURNS * 10); // one of the user, four calls and results, a reply
  expect(report['bytes']).toBeGreaterThan(MEGABYTES * 1_000_000);
  expect(report['heap']).toBeLessThan(25 * scale * 1_000_000);
  expect(report['outside']).toBeLessThan(30_000_000);
});
