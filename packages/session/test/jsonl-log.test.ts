import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

import {
  Context,
  deriveMessagesFrom,
  SESSION_LOG_SERVICE,
  userMessage,
  type SessionEvent,
} from '@celestea/core';
import {
  JsonlSessionLog,
  jsonlSessionLogPlugin,
  SessionLogBrokenError,
  SessionLogInUseError,
  type JsonlSessionLogOptions,
} from '@celestea/session';
import { describe, expect, test } from 'vitest';

import { testFile, testFolder } from './support/folder.ts';
import { fileText, RICH_ROWS, user } from './support/rows.ts';
import { TestDisk } from './support/test-disk.ts';

describe('rows', () => {
  test('C4.2 C4.4 one row a line, one write a row, as the codec writes it', async () => {
    const path = testFile();
    const disk = new TestDisk();
    const log = await JsonlSessionLog.open(path, { fileSystem: disk });
    expect(log.report).toEqual({ rows: 0, tornBytes: 0, skipped: [], interruptedTurn: null });
    RICH_ROWS.forEach((row, index) => {
      log.append(row);
      expect(disk.writes).toBe(index + 1);
      expect(readFileSync(path, 'utf8')).toBe(fileText(RICH_ROWS.slice(0, index + 1)));
    });
    await log.close();
    expect(readFileSync(path, 'utf8')).toBe(fileText(RICH_ROWS));
  });

  test('C4.2 C4.7 reopened it has the rows, the messages and the turn counter', async () => {
    const path = testFile();
    const log = await JsonlSessionLog.open(path);
    for (const row of RICH_ROWS) log.append(row);
    await log.close();
    const again = await JsonlSessionLog.open(path);
    expect(again.report.rows).toBe(RICH_ROWS.length);
    expect(again.events()).toEqual(RICH_ROWS);
    expect(again.deriveMessages()).toEqual(deriveMessagesFrom(RICH_ROWS));
    expect(again.nextTurnId()).toBe('turn-2');
    await again.close();
  });

  test('C4.2 the live log has the messages that the reopened one has', async () => {
    const path = testFile();
    const log = await JsonlSessionLog.open(path);
    const args: Record<string, unknown> = { z: 10n, a: undefined, when: new Date(0) };
    log.append({ type: 'tool_call', id: 'a', name: 'x', args });
    log.append({ type: 'tool_result', id: 'a', value: Number.NaN, error: null });
    args['z'] = 'changed by its tool';
    const before = log.deriveMessages();
    await log.close();
    const again = await JsonlSessionLog.open(path);
    expect(before).toEqual(again.deriveMessages());
    await again.close();
  });

  test.each<[string, unknown]>([
    ['a text that is missing', { type: 'user_message' }],
    ['a name that is missing', { type: 'tool_call', id: 'a', args: 1 }],
    ['an error that is no text', { type: 'tool_result', id: 'a', value: 1, error: 5 }],
    ['a picture that is none', { type: 'user_message', text: '', attachments: [{}] }],
    ['an outcome that is none', { type: 'turn_end', id: 'turn-0', outcome: { error: {} } }],
    ['a surface that is none', { type: 'tool_result', id: 'a', value: 1, error: null, surface: 1 }],
  ])('C4.4 what could not be read back is not written: %s', async (_, row) => {
    const path = testFile();
    const log = await JsonlSessionLog.open(path);
    log.append(user('before'));
    expect(() => {
      log.append(row as SessionEvent);
    }).toThrow(TypeError);
    log.append(user('after'));
    await log.close();
    const again = await JsonlSessionLog.open(path);
    expect(again.events()).toEqual([user('before'), user('after')]);
    await again.close();
  });

  test('C4.2 clear empties the file, and new rows go on', async () => {
    const path = testFile();
    const log = await JsonlSessionLog.open(path);
    for (const row of RICH_ROWS) log.append(row);
    log.clear();
    expect(readFileSync(path, 'utf8')).toBe('');
    log.append(user('new'));
    await log.close();
    const again = await JsonlSessionLog.open(path);
    expect(again.events()).toEqual([user('new')]);
    expect(again.deriveMessages()).toEqual([userMessage('new')]);
    await again.close();
  });
});

describe('close', () => {
  test('append, clear and flush afterwards say that it is closed', async () => {
    const path = testFile();
    const log = await JsonlSessionLog.open(path);
    log.append(user('kept'));
    await log.close();
    const closed = `${path} cannot be written: it is closed`;
    for (const act of [() => { log.append(user('late')); }, () => { log.clear(); }]) {
      expect(act).toThrow(SessionLogBrokenError);
      expect(act).toThrow(closed);
    }
    await expect(log.flush()).rejects.toThrow(closed);
    expect(log.events()).toEqual([user('kept')]);
    expect(log.deriveMessages()).toEqual([userMessage('kept')]);
    expect(readFileSync(path, 'utf8')).toBe(fileText([user('kept')]));
  });

  test('it takes no row once it was called, and makes durable what it has', async () => {
    const disk = new TestDisk();
    const log = await JsonlSessionLog.open(testFile(), { fileSystem: disk });
    const syncs = disk.syncs;
    disk.holding = true;
    log.append(user('kept'));
    const closing = log.close();
    expect(() => {
      log.append(user('late'));
    }).toThrow('it is closed');
    disk.release();
    await closing;
    expect(disk.syncs).toBe(syncs + 1);
    expect(log.events()).toEqual([user('kept')]);
  });

  test('a second call waits for the first; the lock is held until then', async () => {
    const path = testFile();
    const disk = new TestDisk();
    const log = await JsonlSessionLog.open(path, { fileSystem: disk });
    disk.holding = true;
    log.append(user('kept'));
    const done: string[] = [];
    const first = log.close().then(() => done.push('first'));
    const second = log.close().then(() => done.push('second'));
    await expect(JsonlSessionLog.open(path)).rejects.toThrow(SessionLogInUseError);
    expect(done).toEqual([]);
    disk.release();
    await Promise.all([first, second]);
    expect(existsSync(`${path}.lock`)).toBe(false);
    expect(disk.trace.filter((entry) => entry === 'close')).toHaveLength(2); // file and folder
  });

  test('with nothing new there is nothing to sync', async () => {
    const disk = new TestDisk();
    const log = await JsonlSessionLog.open(testFile(), { fileSystem: disk });
    log.append(user('a'));
    await log.flush();
    const { syncs } = disk;
    await log.flush();
    await log.close();
    expect(disk.syncs).toBe(syncs);
  });
});

describe('read-only', () => {
  test('changes nothing, takes no lock, and cannot be written', async () => {
    const path = testFile();
    const text = `${fileText(RICH_ROWS.slice(0, 6))}{"type":"us`;
    writeFileSync(path, text);
    chmodSync(path, 0o444);
    const log = await JsonlSessionLog.open(path, { readOnly: true });
    expect(existsSync(`${path}.lock`)).toBe(false);
    expect(log.report).toEqual({ rows: 6, tornBytes: 11, skipped: [], interruptedTurn: 'turn-0' });
    expect(log.events()).toEqual(RICH_ROWS.slice(0, 6));
    const refusal = `${path} cannot be written: it was opened read-only`;
    const acts = [() => { log.append(user('x')); }, () => { log.clear(); }, () => log.nextTurnId()];
    for (const act of acts) expect(act).toThrow(refusal);
    await log.flush();
    await log.close();
    await log.close();
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  test('stays what it was when it was opened, while another writes', async () => {
    const path = testFile();
    const writer = await JsonlSessionLog.open(path);
    writer.append(user('a'));
    const reader = await JsonlSessionLog.open(path, { readOnly: true });
    writer.append(user('b'));
    expect(reader.events()).toEqual([user('a')]);
    expect(reader.deriveMessages()).toEqual([userMessage('a')]);
    const later = await JsonlSessionLog.open(path, { readOnly: true });
    expect(later.events()).toEqual([user('a'), user('b')]);
    await writer.close();
  });

  test('a file that is not there is not made', async () => {
    const path = testFile();
    await expect(JsonlSessionLog.open(path, { readOnly: true })).rejects.toThrow(/ENOENT/);
    expect(existsSync(path)).toBe(false);
  });
});

describe('options', () => {
  const open = (...args: unknown[]): Promise<JsonlSessionLog> =>
    JsonlSessionLog.open(...(args as [string, JsonlSessionLogOptions?]));
  test.each<[unknown[], string]>([
    [[undefined], 'path: expected a file path, got undefined'],
    [[''], 'path: expected a file path, got ""'],
    [[3], 'path: expected a file path, got 3'],
    [['x', null], 'options: expected an object such as { readOnly: true }, got null'],
    [['x', true], 'options: expected an object such as { readOnly: true }, got true'],
    [['x', { readOnly: 1 }], 'readOnly: expected a boolean, got 1'],
    [['x', { readOnly: null }], 'readOnly: expected a boolean, got null'],
    [['x', { onDamage: 'ignore' }], 'onDamage: expected "refuse" or "skip", got "ignore"'],
    [['x', { onDamage: true }], 'onDamage: expected "refuse" or "skip", got true'],
    [
      ['x', { fileSystem: null }],
      'fileSystem: expected an object with every method of FileSystem, got null',
    ],
  ])('open(%j) is refused by name', async (args, message) => {
    await expect(open(...args)).rejects.toThrow(new TypeError(message));
  });

  test('a folder that is not there is named', async () => {
    const path = join(testFolder(), 'missing', 'log.jsonl');
    await expect(open(path)).rejects.toThrow(dirname(path));
  });

  test('a folder in place of a file is refused and not locked', async () => {
    const path = testFolder();
    await expect(open(path)).rejects.toThrow(/EISDIR/);
    expect(existsSync(`${path}.lock`)).toBe(false);
  });
});

describe('names of one file', () => {
  test('a link to a log is that log: it has one lock', async () => {
    const path = testFile();
    const link = join(dirname(path), 'link.jsonl');
    writeFileSync(path, '');
    symlinkSync(path, link);
    const log = await JsonlSessionLog.open(link);
    expect(log.path).toBe(path);
    await expect(JsonlSessionLog.open(path)).rejects.toThrow(SessionLogInUseError);
    await log.close();
  });

  test('a relative path is made absolute', async () => {
    const path = testFile();
    const log = await JsonlSessionLog.open(relative(process.cwd(), path));
    expect(log.path).toBe(path);
    await log.close();
  });
});

test('C4.2 C5.2 the plugin provides the log; closing stays with who opened it', async () => {
  const log = await JsonlSessionLog.open(testFile());
  const plugin = jsonlSessionLogPlugin(log);
  expect(plugin.name()).toBe('celestea.session.JsonlSessionLog');
  const ctx = Context.root();
  plugin.mount(ctx);
  expect(ctx.get(SESSION_LOG_SERVICE)).toBe(log);
  log.append(user('still open'));
  await log.close();
});

test('the plugin wants an open log, not the promise of one', () => {
  const path = testFile();
  const promised = JsonlSessionLog.open(path);
  expect(() => {
    Reflect.apply(jsonlSessionLogPlugin, null, [promised]);
  }).toThrow(/^log: expected an open JsonlSessionLog \(open gives a promise: await it\), got /);
  return promised.then((log) => log.close());
});
