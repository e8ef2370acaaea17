import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { defaultAgentConfig, deriveMessagesFrom } from '@celestea/core';
import { JsonlSessionLog } from '@celestea/session';
import { describe, expect, test } from 'vitest';

import {
  assertLogValid,
  createAgentLoop,
  say,
  ScriptedLlm,
  testContext,
} from './support/agent-loop.ts';
import { openDescriptors } from './support/descriptors.ts';
import { testFile } from './support/folder.ts';
import { fileText, RICH_ROWS, user } from './support/rows.ts';

const FIRST = RICH_ROWS.slice(0, 15);

async function richLog(text = fileText(RICH_ROWS)): Promise<JsonlSessionLog> {
  const path = testFile();
  writeFileSync(path, text);
  return JsonlSessionLog.open(path, { onDamage: 'skip' });
}

const beside = (log: JsonlSessionLog, name = 'fork.jsonl'): string =>
  join(dirname(log.path), name);

describe('fork', () => {
  test('C4.2 the new log has the bytes up to the end of the turn, and goes on', async () => {
    const log = await richLog();
    const fork = await log.fork(beside(log), 'turn-0');
    expect(fork.path).toBe(beside(log));
    expect(readFileSync(fork.path, 'utf8')).toBe(fileText(FIRST));
    expect(fork.deriveMessages()).toEqual(deriveMessagesFrom(FIRST));
    const llm = new ScriptedLlm([say('Another way.')]);
    await createAgentLoop(defaultAgentConfig()).runTurn(testContext({ llm, log: fork }), 'else?');
    const rows = fork.events();
    expect(rows[15]).toEqual({ type: 'turn_start', id: 'turn-1' });
    assertLogValid(rows);
    expect(readFileSync(log.path, 'utf8')).toBe(fileText(RICH_ROWS));
    log.append(user('both go on'));
    await Promise.all([log.close(), fork.close()]);
    expect(readdirSync(dirname(log.path)).sort()).toEqual(['fork.jsonl', 'log.jsonl']);
  });

  test('C4.2 of the last turn it is the whole file, byte for byte', async () => {
    const text = fileText(RICH_ROWS).replaceAll('\n', '\r\n');
    const log = await richLog(text);
    const fork = await log.fork(beside(log), 'turn-1');
    expect(readFileSync(fork.path, 'utf8')).toBe(text);
    await Promise.all([log.close(), fork.close()]);
  });

  test('C4.2 turns that were appended count, flushed or not', async () => {
    const log = await richLog('');
    for (const row of RICH_ROWS) log.append(row);
    const fork = await log.fork(beside(log), 'turn-0');
    expect(fork.events()).toEqual(FIRST);
    await Promise.all([log.close(), fork.close()]);
  });

  test('C4.2 a turn that was interrupted has ended, and its fork is whole', async () => {
    const log = await richLog(fileText(RICH_ROWS.slice(0, 8)));
    const fork = await log.fork(beside(log), 'turn-0');
    expect(fork.events()).toEqual(log.events());
    expect(fork.report.interruptedTurn).toBe(null);
    await Promise.all([log.close(), fork.close()]);
  });

  test('C4.2 a last row without its line break', async () => {
    const log = await richLog(fileText(FIRST).trimEnd());
    const fork = await log.fork(beside(log), 'turn-0');
    expect(readFileSync(fork.path, 'utf8')).toBe(fileText(FIRST));
    await Promise.all([log.close(), fork.close()]);
  });

  test('C4.2 a log that is read-only, and one that was closed, can be forked', async () => {
    const log = await richLog();
    await log.close();
    const late = await log.fork(beside(log, 'late.jsonl'), 'turn-0');
    const reader = await JsonlSessionLog.open(log.path, { readOnly: true });
    const fork = await reader.fork(beside(log), 'turn-0');
    for (const made of [late, fork]) expect(made.events()).toEqual(FIRST);
    await Promise.all([late.close(), fork.close()]);
  });

  test('C4.2 more bytes than are copied at a time', async () => {
    const long = [...RICH_ROWS.slice(0, 2), user('ä'.repeat(2_000_000)), ...RICH_ROWS.slice(2)];
    const log = await richLog(fileText(long));
    const fork = await log.fork(beside(log), 'turn-0');
    expect(readFileSync(fork.path, 'utf8')).toBe(fileText(long.slice(0, 16)));
    await Promise.all([log.close(), fork.close()]);
  });
});

describe('a damaged log', () => {
  test('C4.2 skipped lines are left out of the fork, wherever they stand', async () => {
    const text = fileText(FIRST);
    const lines = text.split('\n').slice(0, -1);
    const damaged = ['bad', ...lines.flatMap((line) => [line, 'worse ü']), ''].join('\n');
    const log = await richLog(`${damaged + fileText(RICH_ROWS.slice(15))}worst\n`);
    expect(log.report.skipped).toHaveLength(17);
    const fork = await log.fork(beside(log), 'turn-0');
    expect(readFileSync(fork.path, 'utf8')).toBe(text);
    await Promise.all([log.close(), fork.close()]);
  });

  test('C4.2 that was cleared since has no damage left', async () => {
    const log = await richLog(`bad\n${fileText(FIRST)}`);
    log.clear();
    for (const row of RICH_ROWS) log.append(row);
    const fork = await log.fork(beside(log), 'turn-1');
    expect(readFileSync(fork.path, 'utf8')).toBe(fileText(RICH_ROWS));
    await Promise.all([log.close(), fork.close()]);
  });
});

describe('what cannot be forked', () => {
  test.each([
    ['turn-2', '"turn-2"'],
    ['', '""'],
    [undefined, 'undefined'],
    [{}, 'an object'],
  ])('C4.2 the turn %j', async (turn, shown) => {
    const log = await richLog();
    const expected = `turnId: expected a turn that ended in ${log.path}, got ${shown}`;
    await expect(log.fork(beside(log), turn as string)).rejects.toThrow(new RangeError(expected));
    expect(existsSync(beside(log))).toBe(false);
    await log.close();
  });

  test('C4.2 a turn that runs, and one that was cleared', async () => {
    const log = await richLog();
    log.append({ type: 'turn_start', id: 'turn-2' });
    await expect(log.fork(beside(log), 'turn-2')).rejects.toThrow(RangeError);
    log.clear();
    await expect(log.fork(beside(log), 'turn-0')).rejects.toThrow(RangeError);
    await log.close();
  });

  test('C4.2 into a file that is there: it is not touched, and nothing is left', async () => {
    const log = await richLog();
    writeFileSync(beside(log), 'mine');
    const descriptors = openDescriptors();
    await expect(log.fork(beside(log), 'turn-0')).rejects.toThrow(/EEXIST.*fork\.jsonl/);
    await expect(log.fork(log.path, 'turn-0')).rejects.toThrow(/EEXIST/);
    expect(readFileSync(beside(log), 'utf8')).toBe('mine');
    expect(readFileSync(log.path, 'utf8')).toBe(fileText(RICH_ROWS));
    expect(openDescriptors()).toBe(descriptors);
    await log.close();
    expect(readdirSync(dirname(log.path)).sort()).toEqual(['fork.jsonl', 'log.jsonl']);
  });

  test.each([undefined, '', 7])('C4.2 to the path %j', async (path) => {
    const log = await richLog();
    await expect(log.fork(path as string, 'turn-0')).rejects.toThrow(/^path: expected a file path/);
    await log.close();
  });

  test('C4.2 a file that was cut shorter by somebody else', async () => {
    const log = await richLog();
    writeFileSync(log.path, fileText(FIRST.slice(0, 3)));
    await expect(log.fork(beside(log), 'turn-0')).rejects.toThrow('the log ended at byte');
    expect(existsSync(beside(log))).toBe(false);
    await log.close();
  });
});
