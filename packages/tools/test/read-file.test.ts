import { closeSync, openSync, symlinkSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { readFileTool, type ReadFileResult } from '@celestea/tools';
import { describe, expect, test } from 'vitest';

import { failureOf, freshFolder } from './support/folder.ts';

const numbered = (count: number): string =>
  Array.from({ length: count }, (_, index) => `line ${String(index + 1)}\n`).join('');

async function read(
  content: string | Uint8Array,
  args: Record<string, unknown> = {},
): Promise<ReadFileResult> {
  const tool = readFileTool(freshFolder({ 'a.txt': content }));
  return (await tool.execute({ path: 'a.txt', ...args })) as ReadFileResult;
}

const refused = (content: string | Uint8Array, args: Record<string, unknown> = {}) =>
  failureOf(readFileTool(freshFolder({ 'a.txt': content })), { path: 'a.txt', ...args });

describe('read_file gives lines', () => {
  test('a small file comes whole, byte for byte', async () => {
    expect(await read('one\r\ntwo\n\nfour')).toEqual({
      path: 'a.txt',
      text: 'one\r\ntwo\n\nfour',
      first_line: 1,
      last_line: 4,
      total_lines: 4,
      truncated: false,
    });
  });

  test.each<[string, number]>([
    ['', 0],
    ['\n', 1],
    ['a', 1],
    ['a\n', 1],
    ['a\n\n', 2],
    ['a\nb', 2],
  ])('lines are counted by their ends: %j has %i', async (content, lines) => {
    expect(await read(content)).toMatchObject({
      text: content,
      last_line: lines,
      total_lines: lines,
      truncated: false,
    });
  });

  test('offset and limit choose lines, and the note says how to read on', async () => {
    expect(await read(numbered(10), { offset: 3, limit: 2 })).toEqual({
      path: 'a.txt',
      text: 'line 3\nline 4\n',
      first_line: 3,
      last_line: 4,
      total_lines: 10,
      truncated: true,
      note: 'lines from 5 to 10 were left out; read on with offset 5',
    });
    expect(await read(numbered(10), { offset: 9, limit: 2 })).toMatchObject({
      text: 'line 9\nline 10\n',
      truncated: false,
    });
    expect(await read(numbered(10), { offset: 10, limit: 2_000 })).toMatchObject({
      first_line: 10,
      last_line: 10,
      truncated: false,
    });
  });

  test('400 lines are the default', async () => {
    const result = await read(numbered(401));
    expect(result).toMatchObject({ first_line: 1, last_line: 400, total_lines: 401 });
    expect(result.note).toBe('lines from 401 to 401 were left out; read on with offset 401');
    expect(await read(numbered(400))).toMatchObject({ last_line: 400, truncated: false });
  });

  test('reading on gives every line once', async () => {
    const content = numbered(500).replaceAll(/\d+/g, (digits) => 'é'.repeat(Number(digits)));
    const tool = readFileTool(freshFolder({ 'a.txt': content }));
    let text = '';
    for (let offset = 1; offset !== 0; ) {
      const part = (await tool.execute({ path: 'a.txt', offset })) as ReadFileResult;
      expect(Buffer.byteLength(part.text)).toBeLessThanOrEqual(65_536);
      text += part.text;
      offset = part.truncated ? part.last_line + 1 : 0;
    }
    expect(text).toBe(content);
  });

  test('64 KiB are the most, in whole lines', async () => {
    const line = `${'x'.repeat(9_999)}\n`;
    expect(await read(line.repeat(20))).toMatchObject({
      text: line.repeat(6),
      last_line: 6,
      total_lines: 20,
      note: 'lines from 7 to 20 were left out; read on with offset 7',
    });
    const exact = `${'x'.repeat(65_535)}\n`;
    expect(await read(exact)).toMatchObject({ text: exact, truncated: false });
  });

  test('a longer line is cut, not within a character, and the next can be read', async () => {
    const long = `a${'é'.repeat(100_000)}`;
    const first = await read(`${long}\nlast`);
    expect(first).toMatchObject({
      text: `a${'é'.repeat(32_767)}`,
      last_line: 1,
      total_lines: 2,
      truncated: true,
      note:
        'line 1 was cut at 65536 bytes; ' +
        'lines from 2 to 2 were left out; read on with offset 2',
    });
    expect(await read(`${long}\nlast`, { offset: 2 })).toMatchObject({ text: 'last' });
    expect(await read(long)).toMatchObject({
      truncated: true,
      note: 'line 1 was cut at 65536 bytes',
    });
    expect(await read(`short\n${long}`)).toMatchObject({ text: 'short\n', last_line: 1 });
  });

  test('characters that lie across two chunks stay whole', async () => {
    const content = `${'x'.repeat(65_534)}\n😀é\n`;
    expect(await read(content, { offset: 2 })).toMatchObject({ text: '😀é\n' });
  });

  test('a byte order mark is dropped, a colour code is text', async () => {
    expect(await read('\ufeffa\u001b[31mb\u001b[0m\tc\f')).toMatchObject({
      text: 'a\u001b[31mb\u001b[0m\tc\f',
    });
  });

  test('C3.3 the form for people names the lines', async () => {
    const tool = readFileTool(freshFolder({ 'a.txt': numbered(3) }));
    const outcome = await tool.executeWith?.({
      call_id: 'x',
      name: 'read_file',
      args: { path: 'a.txt' },
    });
    expect(outcome?.render).toBe('a.txt, lines 1 to 3');
  });
});

describe('read_file refuses', () => {
  test.each<[Record<string, unknown>, string]>([
    [{ offset: 0 }, 'offset: expected a number >= 1, got 0'],
    [{ offset: 1.5 }, 'offset: expected a whole number, got 1.5'],
    [{ offset: '2' }, 'offset: expected a whole number, got "2"'],
    [{ limit: 0 }, 'limit: expected a number >= 1, got 0'],
    [{ limit: 2_001 }, 'limit: expected a number <= 2000, got 2001'],
    [{ limit: null }, 'limit: expected a whole number, got null'],
    [{ path: undefined }, 'path: expected a string, got nothing'],
    [{ path: '' }, 'path: expected at least 1 characters, got ""'],
    [{ path: ['a.txt'] }, 'path: expected a string, got an array'],
    [{ start: 1 }, 'arguments: expected only path, offset, limit, got "start"'],
    [{ offset: 5 }, 'offset: expected at most 2, the last line of the file, got 5'],
    [{ offset: 1e300 }, 'offset: expected at most 2, the last line of the file, got 1e+300'],
    [{ path: 'missing.txt' }, 'path: "missing.txt" does not exist'],
  ])('what does not fit, by its name: %j', async (args, text) => {
    expect(await refused('one\ntwo\n', args)).toContain(text);
  });

  test('an empty file has no line 2', async () => {
    expect(await refused('', { offset: 2 })).toContain('got 2');
  });

  test.each<[string, Uint8Array]>([
    ['a NUL', Buffer.from('text\0text')],
    ['an image', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13])],
    ['UTF-16', Buffer.from('text', 'utf16le')],
    ['another code page', Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2])],
    ['control characters', Buffer.from('\u0001\u0002ab\u0003')],
  ])('a binary file: %s', async (_title, content) => {
    expect(await refused(content)).toBe(
      'path: expected a UTF-8 text file, got "a.txt", which is binary or in another encoding',
    );
  });

  test('binary that comes after a text', async () => {
    const content = Buffer.concat([Buffer.from(numbered(3_000)), Buffer.from([0, 1, 2, 3])]);
    expect(await refused(content, { offset: 2_990 })).toContain('binary');
    expect(await read(content, { limit: 1 })).toMatchObject({ text: 'line 1\n' });
  });
});

describe('read_file of a huge file', () => {
  /** A file of a terabyte that holds no more than its beginning. */
  const hugeFolder = (start: string): string => {
    const folder = freshFolder({ 'a.txt': start });
    truncateSync(join(folder, 'a.txt'), 2 ** 40);
    return folder;
  };

  test('reads no further than its lines and does not count', async () => {
    const tool = readFileTool(hugeFolder(numbered(20_000)));
    expect(await tool.execute({ path: 'a.txt', offset: 10_000, limit: 1 })).toEqual({
      path: 'a.txt',
      text: 'line 10000\n',
      first_line: 10_000,
      last_line: 10_000,
      total_lines: null,
      truncated: true,
      note: 'lines from 10001 on were left out; read on with offset 10001',
    });
  });

  test('a line that lies too far in is an error', async () => {
    const tool = readFileTool(hugeFolder(numbered(1_000)));
    expect(await failureOf(tool, { path: 'a.txt', offset: 2_000 })).toBe(
      'offset: expected a line in the first 64 MiB of the file, got 2000',
    );
  });

  test('a file over 4 MiB is counted when it was read to its end', async () => {
    const folder = freshFolder();
    const file = openSync(join(folder, 'a.txt'), 'w');
    for (let index = 0; index < 5; index += 1) writeSync(file, `${'x'.repeat(2 ** 20)}\n`);
    writeSync(file, 'last');
    closeSync(file);
    const tool = readFileTool(folder);
    expect(await tool.execute({ path: 'a.txt', offset: 6 })).toMatchObject({
      text: 'last',
      total_lines: 6,
      truncated: false,
    });
    expect(await failureOf(tool, { path: 'a.txt', offset: 7 })).toContain('at most 6');
    expect(await tool.execute({ path: 'a.txt', limit: 1 })).toMatchObject({ total_lines: null });
  });
});

test('X2 read_file stops when its signal aborts', async () => {
  const tool = readFileTool(freshFolder({ 'a.txt': 'a' }));
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(tool.execute({ path: 'a.txt' }, { signal })).rejects.toThrow('enough');
});

test('X2 read_file stops between chunks', async () => {
  const folder = freshFolder({ 'a.txt': numbered(1_000) });
  truncateSync(join(folder, 'a.txt'), 2 ** 40);
  let asked = 0;
  // A signal that aborts by itself after a few looks: the clock plays no part.
  const signal = {
    throwIfAborted: () => {
      asked += 1;
      if (asked > 5) throw new Error('enough');
    },
  } as AbortSignal;
  const tool = readFileTool(folder);
  const reading = tool.execute({ path: 'a.txt', offset: 2_000 }, { signal });
  await expect(reading).rejects.toThrow('enough');
  expect(asked).toBe(6);
});

test('a link inside is read under the name that was asked for', async () => {
  const folder = freshFolder({ 'src/a.txt': 'x' });
  symlinkSync('src/a.txt', join(folder, 'b.txt'));
  expect(await readFileTool(folder).execute({ path: './b.txt' })).toMatchObject({ path: 'b.txt' });
});
