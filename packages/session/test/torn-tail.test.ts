import { readFileSync, writeFileSync } from 'node:fs';

import { deriveMessagesFrom, type SessionEvent } from '@celestea/core';
import { JsonlSessionLog, SessionLogDamagedError } from '@celestea/session';
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
    ['a whole row, then NUL', `${fileText([user('x')]).trimEnd()}${nul}`, 35],
    ['half a character', `{"type":"user_message","text":"\u00e4`, 32],
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

  test('C4.4 a complete last row without its line break is kept', async () => {
    const path = testFile();
    writeFileSync(path, good.trimEnd());
    await opened(path, (log) => {
      expect(log.report).toMatchObject({ rows: rows.length, tornBytes: 0 });
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
