import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { deriveMessagesFrom } from '@celestea/core';
import { JsonlSessionLog, SessionLogDamagedError, type DamagedLine } from '@celestea/session';
import { describe, expect, test } from 'vitest';

import { openDescriptors } from './support/descriptors.ts';
import { testFile } from './support/folder.ts';
import { fileText, RICH_ROWS, user } from './support/rows.ts';

const row = (text: string): string => fileText([user(text)]).trimEnd();

const KINDS: readonly [kind: string, line: string, reason: RegExp][] = [
  ['garbage', '%%% not a row %%%', /^not JSON/],
  ['not UTF-8', `${row('ab').slice(0, -3)}\u00ff"}`, /^not UTF-8$/],
  ['a row of an unknown type', '{"type":"turn_pause","id":"x"}', /^unknown type "turn_pause"$/],
  ['a field missing', '{"type":"user_message"}', /^missing text$/],
  ['a field of a wrong type', '{"type":"turn_start","id":4}', /^id: expected a string, got 4$/],
  ['two rows in one line', row('a') + row('b'), /^not JSON/],
  ['half a row, then a row', row('a').slice(0, 20) + row('b'), /^not JSON/],
  ['NUL', '\0'.repeat(50), /^not JSON/],
  ['a byte order mark', `\ufeff${row('a')}`, /^not JSON/],
  ['JSON that is no object', '[1,2,3]', /^expected a JSON object/],
];

/** One byte a character but for the marks: \u00ff becomes the byte 0xff, which is no UTF-8. */
function encoded(text: string): Uint8Array {
  const parts = text.split('\u00ff').map((part) => Buffer.from(part));
  return Buffer.concat(parts.flatMap((part, n) => (n === 0 ? [part] : [Buffer.of(0xff), part])));
}

const before = RICH_ROWS.slice(0, 15);
const after = RICH_ROWS.slice(15);
const offset = encoded(fileText(before)).length;

function damagedFile(line: string, more = fileText(after)): { path: string; bytes: Uint8Array } {
  const path = testFile();
  const bytes = encoded(`${fileText(before)}${line}\n${more}`);
  writeFileSync(path, bytes);
  return { path, bytes };
}

async function refusal(path: string, readOnly = false): Promise<SessionLogDamagedError> {
  try {
    await JsonlSessionLog.open(path, { readOnly });
  } catch (error) {
    if (error instanceof SessionLogDamagedError) return error;
    throw error;
  }
  throw new Error('it was opened');
}

describe('damage is refused', () => {
  test.each(KINDS)('C4.4 with line and byte, nothing is touched: %s', async (_, line, reason) => {
    for (const more of [fileText(after), '']) {
      const { path, bytes } = damagedFile(line, more);
      const descriptors = openDescriptors();
      for (const readOnly of [false, true]) {
        const error = await refusal(path, readOnly);
        const damage = { line: 16, offset, bytes: encoded(line).length };
        expect(error.damage).toMatchObject(damage);
        expect(error.damage.reason).toMatch(reason);
        expect(error.path).toBe(path);
        expect(error.message).toMatch(`${path} is damaged in line 16, at byte ${String(offset)}: `);
      }
      expect(openDescriptors()).toBe(descriptors);
      expect(Buffer.compare(readFileSync(path), bytes)).toBe(0);
      expect(readdirSync(dirname(path))).toEqual(['log.jsonl']);
    }
  });

  test('C4.4 empty lines count as lines', async () => {
    const path = testFile();
    writeFileSync(path, `\n${row('a')}\r\n\r\nbad\n`);
    const { damage } = await refusal(path);
    expect(damage).toMatchObject({ line: 4, offset: row('a').length + 5, bytes: 3 });
  });

  test('C4.4 the first of several is the one that is told', async () => {
    const path = testFile();
    writeFileSync(path, `bad\n${row('a')}\nworse\n`);
    expect((await refusal(path)).damage).toMatchObject({ line: 1, offset: 0 });
  });

  test('C4.4 in a line longer than what is read at a time', async () => {
    const path = testFile();
    const long = row('é'.repeat(700_000));
    writeFileSync(path, `${long}\nbad${'x'.repeat(600_000)}\n${row('a')}\n`);
    const { damage } = await refusal(path);
    expect(damage).toMatchObject({ line: 2, offset: Buffer.byteLength(long) + 1, bytes: 600_003 });
  });
});

describe('onDamage: skip', () => {
  test.each(KINDS)('C4.4 reads around it and reports it: %s', async (_, line, reason) => {
    const { path, bytes } = damagedFile(line);
    const log = await JsonlSessionLog.open(path, { onDamage: 'skip' });
    expect(log.report.rows).toBe(RICH_ROWS.length);
    expect(log.report.skipped).toMatchObject([{ line: 16, offset, bytes: encoded(line).length }]);
    expect(log.report.skipped[0]?.reason).toMatch(reason);
    expect(log.events()).toEqual(RICH_ROWS);
    expect(log.deriveMessages()).toEqual(deriveMessagesFrom(RICH_ROWS));
    expect(log.nextTurnId()).toBe('turn-2');
    log.append(user('on'));
    expect(log.events()).toEqual([...RICH_ROWS, user('on')]);
    await log.close();
    const whole = Buffer.concat([bytes, Buffer.from(fileText([user('on')]))]);
    expect(Buffer.compare(readFileSync(path), whole)).toBe(0);
    expect((await refusal(path)).damage.line).toBe(16);
  });

  test('C4.4 every damaged line is reported, a torn end apart', async () => {
    const path = testFile();
    writeFileSync(path, `bad\n${row('a')}\n\nworse\n${row('b')}\n{"type":"us`);
    const expected: Partial<DamagedLine>[] = [
      { line: 1, offset: 0, bytes: 3 },
      { line: 4, offset: row('a').length + 6, bytes: 5 },
    ];
    const reader = await JsonlSessionLog.open(path, { onDamage: 'skip', readOnly: true });
    expect(reader.report).toMatchObject({ rows: 2, tornBytes: 11, skipped: expected });
    const log = await JsonlSessionLog.open(path, { onDamage: 'skip' });
    expect(log.report).toMatchObject({ rows: 2, tornBytes: 11, skipped: expected });
    expect(log.events()).toEqual([user('a'), user('b')]);
    log.append(user('on'));
    await log.close();
    expect(readFileSync(path, 'utf8')).toBe(
      `bad\n${row('a')}\n\nworse\n${row('b')}\n${row('on')}\n`,
    );
  });

  test('C4.2 a damaged end of a turn: the turn counts as interrupted', async () => {
    const path = testFile();
    const open = RICH_ROWS.slice(0, 14);
    writeFileSync(path, `${fileText(open)}bad\n`);
    const log = await JsonlSessionLog.open(path, { onDamage: 'skip' });
    expect(log.report.interruptedTurn).toBe('turn-0');
    const end = { type: 'turn_end', id: 'turn-0', outcome: 'interrupted' };
    expect(log.events()).toEqual([...open, end]);
    await log.close();
  });
});

test('C4.4 damage that comes while a log is open is not passed over', async () => {
  const path = testFile();
  const log = await JsonlSessionLog.open(path);
  log.append(user('aaaa'));
  log.append(user('bbbb'));
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace('"text":"aaaa"', '"text"!"aaaa"'));
  expect(() => log.events()).toThrow(SessionLogDamagedError);
  writeFileSync(path, text);
  expect(log.events()).toEqual([user('aaaa'), user('bbbb')]);
  await log.close();
  expect(existsSync(`${path}.lock`)).toBe(false);
});

test('C4.2 C4.4 a byte order mark at the start is read over, and counts as bytes', async () => {
  const path = testFile();
  const text = `\ufeff${fileText(before)}bad\n${fileText(after)}`;
  writeFileSync(path, text);
  const damage = { line: 16, offset: offset + 3, bytes: 3 };
  for (const readOnly of [false, true]) {
    expect((await refusal(path, readOnly)).damage).toMatchObject(damage);
  }
  const reader = await JsonlSessionLog.open(path, { onDamage: 'skip', readOnly: true });
  expect(reader.events()).toEqual(RICH_ROWS);
  const log = await JsonlSessionLog.open(path, { onDamage: 'skip' });
  expect(log.report.skipped).toMatchObject([damage]);
  for (const [turn, rows] of [['turn-0', before], ['turn-1', RICH_ROWS]] as const) {
    const fork = await log.fork(join(dirname(path), turn), turn);
    expect(fork.events()).toEqual(rows);
    expect(readFileSync(fork.path, 'utf8')).toBe(`\ufeff${fileText(rows)}`);
    await fork.close();
  }
  log.append(user('on'));
  expect(log.events()).toEqual([...RICH_ROWS, user('on')]);
  await log.close();
  expect(readFileSync(path, 'utf8')).toBe(text + fileText([user('on')]));
});
