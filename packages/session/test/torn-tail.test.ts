import { readFileSync, writeFileSync } from 'node:fs';

import { deriveMessagesFrom, type SessionEvent } from '@celestea/core';
import { JsonlSessionLog, SessionLogDamagedError } from '@celestea/session';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { assertLogValid } from './support/agent-loop.ts';
import { quickFile, testFile } from './support/folder.ts';
import { fileText, RICH_ROWS, user } from './support/rows.ts';

/** Opens, lets `use` look, and closes. */
async function opened<T>(path: string, use: (log: JsonlSessionLog) => T): Promise<T> {
  const log = await JsonlSessionLog.open(path);
  try {
    return use(log);
  } finally {
    await log.close();
  }
}

const row = (text: string): string => fileText([user(text)]).trimEnd();

const nextTurn = (id: string): SessionEvent[] => [
  { type: 'turn_start', id },
  user('weiter 😀'),
  { type: 'turn_end', id, outcome: 'cancelled' },
];

test('C4.2 C4.4 a file cut at any byte opens, keeps its rows, and goes on', async () => {
  const whole = new TextEncoder().encode(fileText(RICH_ROWS));
  const ends: number[] = [];
  RICH_ROWS.forEach((_, index) => {
    ends.push(new TextEncoder().encode(fileText(RICH_ROWS.slice(0, index + 1))).length);
  });
  const path = quickFile();
  for (let cut = 0; cut <= whole.length; cut += 1) {
    writeFileSync(path, whole.subarray(0, cut));
    const complete = ends.filter((end) => end - 1 <= cut).length; // its line break may be missing
    const kept = RICH_ROWS.slice(0, complete);
    const torn = Math.max(0, cut - (ends[complete - 1] ?? 0));
    const next = await opened(path, (log) => {
      expect([cut, log.report.rows]).toEqual([cut, complete]);
      expect([cut, log.report.tornBytes]).toEqual([cut, torn]);
      expect(log.events().slice(0, complete)).toEqual(kept);
      const id = log.nextTurnId();
      for (const row of nextTurn(id)) log.append(row);
      return id;
    });
    const text = readFileSync(path, 'utf8');
    await opened(path, (log) => {
      expect(log.report).toMatchObject({ tornBytes: 0, skipped: [], interruptedTurn: null });
      const rows = log.events();
      expect(rows.slice(0, complete)).toEqual(kept);
      expect(rows.slice(-3)).toEqual(nextTurn(next));
      expect(log.deriveMessages()).toEqual(deriveMessagesFrom(rows));
      assertLogValid(rows);
      expect(text).toBe(fileText(rows));
    });
    expect(readFileSync(path, 'utf8')).toBe(text);
  }
});

describe('the end of a file', () => {
  const rows = RICH_ROWS.slice(0, 15);
  const good = fileText(rows);
  const nul = '\0';

  test.each<[string, string, number]>([
    ['NUL alone', nul.repeat(4096), 4096],
    ['part of a row, then NUL', `{"type":"user_mess${nul.repeat(100)}`, 118],
    ['the first characters of a row, then NUL', `{"ty${nul.repeat(9)}`, 13],
    ['half a character', `{"type":"user_message","text":"\u00e4`, 32],
    ['half of deep arguments', `{"type":"tool_call","args":${'[{"a":'.repeat(50_000)}`, 300_027],
    ['half of a long text', `{"type":"user_message","text":"${'x\\"'.repeat(1e6)}`, 3_000_031],
  ])('C4.4 what a cut-off write leaves is removed: %s', async (_, tail, bytes) => {
    const path = testFile();
    const half = tail.endsWith('\u00e4') ? 1 : 0;
    const all = new TextEncoder().encode(good + tail);
    writeFileSync(path, all.subarray(0, all.length - half));
    await opened(path, (log) => {
      expect(log.report.tornBytes).toBe(bytes);
      expect(log.events()).toEqual(rows);
      log.append(user('on'));
    });
    expect(readFileSync(path, 'utf8')).toBe(good + fileText([user('on')]));
  });

  test.each([
    ['a text', 'hello'],
    ['JSON of another kind', '{"name":"my-package","version":"1.0.0"}'],
    ['JSON that starts as a row does', '{"type":"module"}'],
    ['a row of a newer version', '{"type":"turn_pause","id":"turn-1"}'],
    ['NUL with something after it', '\0\0\0abc'],
    ['a number', '42'],
    ['JSON that starts as a row does, then NUL', `{"type":"module"}${nul}`],
    ['part of a row with NUL inside', `{"type":"user_mess${nul}ge","text":"`],
    ['part of a row, then a whole one', `{"type":"user_mess${row('x')}`],
    ['part of a row, then a note', '{"type":"turn_end","id":"turn-0" // died'],
    ['a row, then a note', `${row('x')} // note`],
    ['a row, then the start of one', `${row('x')} {`],
    ['rows glued together', row('x') + row('y')],
    ['rows with CR as their line ends', `${row('x')}\r${row('y')}\r`],
  ])('C4.4 what no log wrote is never removed: %s', async (_, tail) => {
    for (const text of [tail, good + tail]) {
      const path = testFile();
      writeFileSync(path, text);
      await expect(JsonlSessionLog.open(path)).rejects.toThrow(SessionLogDamagedError);
      expect(readFileSync(path, 'utf8')).toBe(text);
      const log = await JsonlSessionLog.open(path, { onDamage: 'skip' });
      expect(log.report.skipped).toHaveLength(1);
      log.append(user('on'));
      await log.close();
      expect(readFileSync(path, 'utf8')).toBe(`${text}\n${fileText([user('on')])}`);
    }
  });

  test.each([0, 1, 4096])('C4.4 a last row gets its line break: %i NUL behind it', async (zeros) => {
    const path = testFile();
    writeFileSync(path, good.trimEnd() + nul.repeat(zeros));
    await opened(path, (log) => {
      expect(log.report).toMatchObject({ rows: rows.length, tornBytes: zeros });
      log.append(user('on'));
    });
    expect(readFileSync(path, 'utf8')).toBe(good + fileText([user('on')]));
  });

  test.each(['', '\n', '\n\n', '\r\n', ' \t\n'])('C4.4 an empty file: %j', async (text) => {
    const path = testFile();
    writeFileSync(path, text);
    await opened(path, (log) => {
      expect(log.report).toEqual({ rows: 0, tornBytes: 0, skipped: [], interruptedTurn: null });
      log.append(user('on'));
    });
    await opened(path, (log) => {
      expect(log.events()).toEqual([user('on')]);
    });
  });

  test.each<[string, (text: string) => string]>([
    ['CR LF', (text) => text.replaceAll('\n', '\r\n')],
    ['CR LF, empty lines', (text) => text.replaceAll('\n', '\r\n\r\n')],
    ['CR LF, the last LF missing', (text) => text.replaceAll('\n', '\r\n').slice(0, -1)],
    ['empty lines', (text) => `\n\n${text.replaceAll('\n', '\n \n\t\n')}  `],
    ['no last line break, spaces', (text) => `${text.trimEnd()}  `],
  ])('C4.4 a file that an editor saved: %s', async (_, edit) => {
    const path = testFile();
    writeFileSync(path, edit(good));
    await opened(path, (log) => {
      expect(log.report).toMatchObject({ rows: rows.length, tornBytes: 0, skipped: [] });
      log.append(user('on'));
    });
    await opened(path, (log) => {
      expect(log.events()).toEqual([...rows, user('on')]);
      expect(log.report.tornBytes).toBe(0);
    });
  });
});

test('C4.4 opening removes no whole row, whatever became of the line breaks', async () => {
  const numbered = (n: number): string => row(`row ${String(n)} ä`);
  const between = fc.constantFrom('\n', '\r\n', '\r', '', ' ', ' // note\n', '\ufeff', '\0', ',');
  const file = fc.tuple(fc.array(between, { maxLength: 6 }), fc.nat(60), fc.constantFrom('', '\0'));
  const path = quickFile();
  const seen = { refused: 0, torn: 0 };
  await fc.assert(
    fc.asyncProperty(file, async ([breaks, cut, zeros]) => {
      const rows = breaks.map((after, n) => numbered(n) + after).join('');
      const text = rows + numbered(breaks.length).slice(0, cut) + zeros;
      writeFileSync(path, text);
      const found = await JsonlSessionLog.open(path).catch((error: unknown) => error);
      const kept = readFileSync(path, 'utf8');
      if (!(found instanceof JsonlSessionLog)) {
        expect(found).toBeInstanceOf(SessionLogDamagedError);
        expect(kept).toBe(text);
        seen.refused += 1;
        return;
      }
      await found.close();
      if (found.report.tornBytes > 0) seen.torn += 1;
      breaks.forEach((_, n) => {
        expect(kept).toContain(numbered(n));
      });
    }),
    { numRuns: 400 },
  );
  expect(seen.refused).toBeGreaterThan(50);
  expect(seen.torn).toBeGreaterThan(50);
});
