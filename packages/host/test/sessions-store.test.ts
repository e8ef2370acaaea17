import {
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { JsonlSessionLog } from '@celestea/session';
import { describe, expect, test } from 'vitest';

import { HostError, isSessionId, SessionStore } from '../src/sessions/index.ts';
import { codeOf, fileText, testFolder, turnRows } from './sessions-support.ts';

const HOSTILE = [
  '',
  '.',
  '..',
  '../x',
  '../outside',
  'a/b',
  'a\\b',
  '/etc/passwd',
  'a\0b',
  'a.jsonl',
  'A',
  'é',
  'ａ',
  '⁄',
  'a\n',
  'a ',
  '%2e%2e',
  'con',
  'nul',
  'com1',
  'a'.repeat(65),
  'a'.repeat(100_000),
];

describe('ids', () => {
  test.each(HOSTILE.map((id) => [JSON.stringify(id).slice(0, 30), id]))(
    'the id %s is none',
    (_, id) => {
      expect(isSessionId(id)).toBe(false);
    },
  );

  test.each(['a', '-', 'a'.repeat(64), '2026-01-02-030405-0a1b2c3d4e5f', 'con-1'])(
    'the id %s is one',
    (id) => {
      expect(isSessionId(id)).toBe(true);
    },
  );

  test('what is no text is no id', () => {
    for (const value of [null, undefined, 1, {}, ['a']]) expect(isSessionId(value)).toBe(false);
  });

  test('no id leads out of the folder, whatever is asked of it', async () => {
    const parent = testFolder();
    const outside = fileText(turnRows(0, 'secret', 'words'));
    for (const name of ['outside.jsonl', 'x.jsonl']) writeFileSync(join(parent, name), outside);
    const store = new SessionStore(join(parent, 'sessions'));
    await store.create();
    for (const id of HOSTILE) {
      expect(await codeOf(() => store.rows(id))).toBe('not_found');
      expect(await codeOf(() => store.open(id))).toBe('not_found');
      expect(await codeOf(() => store.fork(id, 'turn-0'))).toBe('not_found');
    }
    expect(readdirSync(parent).sort()).toEqual(['outside.jsonl', 'sessions', 'x.jsonl']);
    expect(readdirSync(join(parent, 'sessions'))).toHaveLength(1);
  });

  test('a symbolic link and a folder are no sessions', async () => {
    const folder = testFolder();
    const outside = join(testFolder(), 'secret');
    writeFileSync(outside, fileText(turnRows(0, 'secret', 'words')));
    symlinkSync(outside, join(folder, 'link.jsonl'));
    mkdirSync(join(folder, 'folder.jsonl'));
    const store = new SessionStore(folder);
    expect(await store.list()).toEqual([]);
    expect(await codeOf(() => store.rows('link'))).toBe('not_found');
    expect(await codeOf(() => store.open('link'))).toBe('not_found');
    expect(await codeOf(() => store.open('folder'))).toBe('not_found');
  });
});

describe('making and opening', () => {
  test('a session that was made is there, is empty, and is for its owner alone', async () => {
    const folder = join(testFolder(), 'deep', 'sessions');
    const store = new SessionStore(folder);
    expect(await store.list()).toEqual([]);
    const ids = await Promise.all([store.create(), store.create()]);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) {
      expect(isSessionId(id)).toBe(true);
      expect(await store.rows(id)).toEqual([]);
      expect(statSync(join(folder, `${id}.jsonl`)).mode & 0o077).toBe(0);
    }
    expect(statSync(folder).mode & 0o077).toBe(0);
  });

  test('a session that is missing is not found, and is not made by asking', async () => {
    const folder = testFolder();
    const store = new SessionStore(folder);
    await expect(store.open('nothing-here')).rejects.toThrow(
      new HostError('not_found', 'there is no session nothing-here'),
    );
    expect(await codeOf(() => new SessionStore(join(folder, 'none')).rows('a'))).toBe('not_found');
    expect(readdirSync(folder)).toEqual([]);
  });

  test('a session that is open elsewhere is busy, and can be read all the same', async () => {
    const store = new SessionStore(testFolder());
    const id = await store.create();
    const log = await store.open(id);
    for (const row of turnRows(0, 'hi', 'hello')) log.append(row);
    const failure = await store.open(id).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'busy' });
    expect(String(failure)).toContain(`session ${id} is in use by process`);
    expect(String(failure)).not.toContain(store.folder);
    expect(await store.rows(id)).toEqual(turnRows(0, 'hi', 'hello'));
    await log.close();
  });

  test('a damaged session fails with what is wrong, and its other rows can be read', async () => {
    const folder = testFolder();
    const rows = turnRows(0, 'hi', 'hello');
    writeFileSync(join(folder, 'bad.jsonl'), `${fileText(rows)}{"type":"no row"}\n`);
    const store = new SessionStore(folder);
    const failure = await store.open('bad').catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'damaged' });
    expect(String(failure)).toContain('session bad is damaged in line 5');
    expect(String(failure)).not.toContain(folder);
    expect(await store.rows('bad')).toEqual(rows);
  });
});

describe('forks', () => {
  test('a fork has the rows up to the end of a turn; the other session may be open', async () => {
    const store = new SessionStore(testFolder());
    const id = await store.create();
    const log = await store.open(id);
    const rows = [...turnRows(0, 'one', 'first'), ...turnRows(1, 'two', 'second')];
    for (const row of rows) log.append(row);
    const forked = await store.fork(id, 'turn-0');
    expect(await store.rows(forked)).toEqual(rows.slice(0, 4));
    const copy = await store.open(forked);
    expect(copy.nextTurnId()).toBe('turn-1');
    await copy.close();
    expect(await store.rows(id)).toEqual(rows);
    await log.close();
  });

  test('only at the end of a turn that has ended', async () => {
    const folder = testFolder();
    const rows = [...turnRows(0, 'one', 'first'), ...turnRows(1, 'two', 'second').slice(0, 2)];
    writeFileSync(join(folder, 'a.jsonl'), fileText(rows));
    const store = new SessionStore(folder);
    for (const turn of ['turn-1', 'turn-7', '../x', '']) {
      expect(await codeOf(() => store.fork('a', turn))).toBe('invalid');
    }
    expect(readdirSync(folder)).toEqual(['a.jsonl']);
  });
});

describe('the list', () => {
  const at = (folder: string, name: string, seconds: number, text: string | Uint8Array): void => {
    writeFileSync(join(folder, name), text);
    utimesSync(join(folder, name), seconds, seconds);
  };

  test('the session written last comes first, with its first words and its turns', async () => {
    const folder = testFolder();
    at(folder, 'old.jsonl', 1000, fileText(turnRows(0, '  What\n\n is\tthis?\u202e ', 'x')));
    const two = [...turnRows(0, 'first words', 'x'), ...turnRows(1, 'later words', 'y')];
    at(folder, 'new.jsonl', 3000, fileText(two));
    at(folder, '2026-01-02-030405-0a1b2c3d4e5f.jsonl', 2000, '');
    const list = await new SessionStore(folder).list();
    expect(list).toEqual([
      { id: 'new', title: 'first words', created_ms: 3e6, changed_ms: 3e6, bytes: fileText(two).length, turns: 2 },
      {
        id: '2026-01-02-030405-0a1b2c3d4e5f',
        title: '',
        created_ms: Date.UTC(2026, 0, 2, 3, 4, 5),
        changed_ms: 2e6,
        bytes: 0,
        turns: 0,
      },
      expect.objectContaining({ id: 'old', title: 'What is this?', turns: 1 }),
    ]);
  });

  test('a title has at most 80 characters and parts none of them', async () => {
    const folder = testFolder();
    at(folder, 'a.jsonl', 1, fileText(turnRows(0, '🤔'.repeat(100), 'x')));
    at(folder, 'b.jsonl', 2, fileText(turnRows(0, 'b'.repeat(80), 'x')));
    const [b, a] = await new SessionStore(folder).list();
    expect(a?.title).toBe(`${'🤔'.repeat(39)}…`);
    expect(b?.title).toBe('b'.repeat(80));
  });

  test('first words that are longer than what is read are told all the same', async () => {
    const folder = testFolder();
    const quoted = '"Quoted" \\ and\t\u0007';
    at(folder, 'a.jsonl', 1, fileText(turnRows(0, quoted + 'é☀\u0001'.repeat(50_000), 'x')));
    const [a] = await new SessionStore(folder).list();
    expect(a?.title).toMatch(/^"Quoted" \\ and é☀ é☀ .*…$/);
    expect(a?.turns).toBe(1);
    for (let cut = 990; cut < 1010; cut += 1) {
      at(folder, 'a.jsonl', 1, fileText(turnRows(0, 'x'.repeat(cut) + '\u0001'.repeat(50_000), 'x')));
      expect((await new SessionStore(folder).list())[0]?.title).toBe(`${'x'.repeat(79)}…`);
    }
  });

  test('of a long session only the ends are read', async () => {
    const folder = testFolder();
    const rows = Array.from({ length: 3000 }, (_, n) => turnRows(n, `input ${String(n)}`, 'x')).flat();
    const nested = { type: 'turn_start', id: 'turn-999999' };
    rows.push({ type: 'tool_call', id: 'a', name: 'x', args: { nested: [nested, '\n', nested] } });
    at(folder, 'long.jsonl', 1, fileText(rows));
    const [long] = await new SessionStore(folder).list();
    expect(long).toMatchObject({ title: 'input 0', turns: 3000 });
  });

  test('what stands in a row is not taken for a turn, wherever the part that is read begins', async () => {
    const folder = testFolder();
    const nested = { type: 'turn_start', id: 'turn-999' };
    const row = (filler: string): string =>
      `${JSON.stringify({ type: 'tool_call', id: 'a', name: 'x', args: { nested, filler } })}\n`;
    const rest = row('').length - row('').indexOf('{"type":"turn_start"');
    const text = fileText(turnRows(0, 'hi', 'x')) + row('z'.repeat(16 * 1024 - rest));
    expect(text.slice(-16 * 1024, -16_300)).toMatch(/^\{"type":"turn_start","id":"turn-999"/);
    at(folder, 'a.jsonl', 1, text);
    expect((await new SessionStore(folder).list())[0]).not.toHaveProperty('turns');
  });

  test('turns that are not to be seen are left out', async () => {
    const folder = testFolder();
    const rows = turnRows(0, 'hi', 'x').slice(0, 2);
    const huge = 'y'.repeat(40_000);
    at(folder, 'a.jsonl', 1, fileText([...rows, { type: 'assistant_message', text: huge }]));
    const [a] = await new SessionStore(folder).list();
    expect(a).not.toHaveProperty('turns');
    expect(a?.title).toBe('hi');
  });

  test('damaged files, files in use and files of others do not hinder it', async () => {
    const folder = testFolder();
    const store = new SessionStore(folder);
    const noise = Uint8Array.from({ length: 50_000 }, (_, n) => (n * 7919) % 256);
    at(folder, 'noise.jsonl', 1, noise);
    at(folder, 'nul.jsonl', 2, 'a device');
    at(folder, 'torn.jsonl', 3, `${fileText(turnRows(0, 'torn words', 'x'))}{"type":"user_me`);
    at(folder, 'damaged.jsonl', 4, `}{\n${fileText(turnRows(0, 'damaged words', 'x'))}`);
    at(folder, 'Not A Session.jsonl', 5, '');
    at(folder, 'notes.txt', 6, 'no session');
    const id = await store.create();
    const log = await JsonlSessionLog.open(join(folder, `${id}.jsonl`));
    log.append({ type: 'user_message', text: 'in use' });
    expect(existsSync(join(folder, `${id}.jsonl.lock`))).toBe(true);
    const list = await store.list();
    expect(list.map(({ id: of, title }) => [of, title])).toEqual([
      [id, 'in use'],
      ['damaged', 'damaged words'],
      ['torn', 'torn words'],
      ['noise', ''],
    ]);
    await log.close();
  });

  test('a folder that is none fails with a reason', async () => {
    const file = join(testFolder(), 'file');
    writeFileSync(file, '');
    const store = new SessionStore(file);
    await expect(store.list()).rejects.toThrow('the sessions cannot be listed: ENOTDIR');
    expect(await codeOf(() => store.create())).toBe('failed');
    expect(await codeOf(() => store.rows('a'))).toBe('not_found');
  });
});
