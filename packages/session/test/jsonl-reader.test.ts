import * as fs from 'node:fs';

import type { SessionEvent } from '@celestea/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { FileSystem } from '../src/file-system.ts';
import { readLines, type LogLine } from '../src/jsonl-reader.ts';
import { testFile } from './support/folder.ts';
import { fileText, RICH_ROWS, user } from './support/rows.ts';

function linesOf(bytes: Uint8Array, chunkBytes?: number, disk: FileSystem = fs): LogLine[] {
  const path = testFile();
  fs.writeFileSync(path, bytes);
  const fd = fs.openSync(path, 'r');
  try {
    return [...readLines(disk, fd, bytes.length, chunkBytes)];
  } finally {
    fs.closeSync(fd);
  }
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('chunks', () => {
  const piece = fc.constantFrom(
    ...RICH_ROWS.map((row) => fileText([row])),
    ...['\n', '\ufeff', '\r\n', 'bad\n', `${'\0'.repeat(3)}\n`, '   \n', '😀\n'],
  );
  const tail = fc.constantFrom('', '{"type":"us', '{"type":"user_message","text":"ä', '  ', '\0', 'odd');
  const file = fc.tuple(fc.array(piece, { maxLength: 12 }), tail).map(([all, end]) =>
    bytesOf(all.join('') + end),
  );

  test('C4.4 the lines are the same whatever is read at a time', () => {
    const chunk = fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 10, max: 600 }));
    fc.assert(
      fc.property(file, chunk, (bytes, chunkBytes) => {
        expect(linesOf(bytes, chunkBytes)).toEqual(linesOf(bytes));
      }),
      { numRuns: 200 },
    );
  });

  test('C4.4 lines that end at, before and behind the border of a chunk', () => {
    const bytes = bytesOf(fileText([user('ä'), user('b'), user('😀')]));
    const whole = linesOf(bytes);
    expect(whole.map(({ kind }) => kind)).toEqual(['row', 'row', 'row']);
    for (let chunkBytes = 1; chunkBytes <= bytes.length + 1; chunkBytes += 1) {
      expect(linesOf(bytes, chunkBytes)).toEqual(whole);
    }
  });

  test('C4.4 a disk that gives less than it was asked for', () => {
    fc.assert(
      fc.property(file, fc.integer({ min: 1, max: 7 }), (bytes, most) => {
        const disk: FileSystem = {
          ...fs,
          readSync: (fd, into, start, length, at) =>
            fs.readSync(fd, into, start, Math.min(length, most), at),
        };
        expect(linesOf(bytes, 64, disk)).toEqual(linesOf(bytes));
      }),
      { numRuns: 50 },
    );
  });
});

describe('what stands behind the last line break', () => {
  const text = fc.string({ unit: 'binary' });
  const json = fc.jsonValue({ stringUnit: 'binary' });
  const row: fc.Arbitrary<SessionEvent> = fc.oneof(
    fc.constantFrom(...RICH_ROWS),
    text.map(user),
    fc.record({
      type: fc.constant('tool_call' as const),
      ...{ id: text, name: text, args: json, meta: json },
    }),
  );
  const line = row.map((of) => fileText([of]).trimEnd());
  const blanks = fc.string({ unit: fc.constantFrom(' ', '\t', '\r') });
  const zeros = fc.constantFrom('', '\0', '\0'.repeat(40));
  const before = fc.constantFrom('', '\ufeff', '\n', fileText([user('ä')]), 'damage\n');
  /** The last line of a file, and how much of the file there is in front of it. */
  const last = (...parts: string[]): { line: LogLine[]; offset: number } => {
    const lines = linesOf(bytesOf(parts.join('')));
    const offset = bytesOf(parts[0] ?? '').length;
    return { line: lines.slice(linesOf(bytesOf(parts[0] ?? '')).length), offset };
  };

  test('C4.4 the start of a row, cut at any byte, is torn, with NUL behind it or not', () => {
    fc.assert(
      fc.property(before, line, fc.nat(), zeros, (start, whole, some, nul) => {
        const all = bytesOf(start + whole);
        const offset = bytesOf(start).length;
        const cut = offset + 1 + (some % (all.length - offset - 1));
        const lines = linesOf(Buffer.concat([all.subarray(0, cut), bytesOf(nul)]));
        const bytes = cut - offset + nul.length;
        expect(lines.at(-1)).toEqual({ kind: 'torn', offset, bytes });
      }),
      { numRuns: 1000 },
    );
  });

  test('C4.4 a whole row is a row, with blanks behind it or not; NUL behind it is torn', () => {
    fc.assert(
      fc.property(before, line, blanks, zeros, (start, whole, blank, nul) => {
        const read = last(start, whole, blank, nul);
        const row = JSON.parse(whole) as SessionEvent;
        const end = read.offset + bytesOf(whole + blank).length;
        const torn = { kind: 'torn', offset: end, bytes: nul.length };
        expect(read.line).toEqual([
          { kind: 'row', row, end, terminated: false },
          ...(nul === '' ? [] : [torn]),
        ]);
      }),
    );
  });

  test('C4.4 a whole row with anything else behind it is damage', () => {
    const more = fc.oneof(line, text, fc.constantFrom('{', '}', ',', '// note', '\ufeff', '\0x'));
    const isMore = (of: string): boolean => !of.includes('\n') && !/^[ \t\r]*\0*$/.test(of);
    fc.assert(
      fc.property(before, line, blanks, more.filter(isMore), (start, whole, blank, rest) => {
        const read = last(start, whole, blank, rest);
        const bytes = bytesOf(whole + blank + rest).length;
        const damage = { offset: read.offset, bytes };
        expect(read.line).toMatchObject([{ kind: 'damaged', damage, terminated: false }]);
      }),
      { numRuns: 500 },
    );
  });
});

test('C4.4 a byte order mark at the start is read over; offsets count it', () => {
  const [first, second] = [fileText([user('ä')]), fileText([user('b')])];
  const bytes = bytesOf(`\ufeff${first}bad\n${second}`);
  for (let chunkBytes = 1; chunkBytes <= 9; chunkBytes += 1) {
    expect(linesOf(bytes, chunkBytes)).toMatchObject([
      { kind: 'row', end: 3 + bytesOf(first).length },
      { kind: 'damaged', damage: { line: 2, offset: 3 + bytesOf(first).length } },
      { kind: 'row', end: bytes.length },
    ]);
  }
  expect(linesOf(bytesOf('\ufeffbad'))).toMatchObject([{ damage: { line: 1, offset: 3, bytes: 3 } }]);
  expect(linesOf(bytesOf('\ufeff'))).toEqual([]);
  expect(linesOf(bytesOf(`\ufeff\ufeff${first}`))).toMatchObject([{ kind: 'damaged' }]);
});

test('C4.4 offsets and ends are in bytes, and add up', () => {
  const first = bytesOf(fileText([user('ä😀')])).length;
  expect(linesOf(bytesOf(`${fileText([user('ä😀')])}\nbäd\n{"type":"tur`))).toEqual([
    { kind: 'row', row: user('ä😀'), end: first, terminated: true },
    {
      kind: 'damaged',
      damage: {
        line: 3,
        offset: first + 1,
        bytes: 4,
        reason: expect.stringMatching(/^not JSON/) as string,
      },
      terminated: true,
    },
    { kind: 'torn', offset: first + 6, bytes: 12 },
  ]);
});

test('C4.4 lines longer than a chunk, by default too', () => {
  const rows = [user('a'), user('ü'.repeat(400_000)), user('b'), user('x'.repeat(1_048_576))];
  const lines = linesOf(bytesOf(fileText(rows)));
  expect(lines.map((line) => line.kind === 'row' && line.row)).toEqual(rows);
});

test('a file that is cut shorter while it is read ends there', () => {
  const path = testFile();
  fs.writeFileSync(path, fileText([user('a')]));
  const fd = fs.openSync(path, 'r');
  const lines = [...readLines(fs, fd, 10_000)];
  fs.closeSync(fd);
  expect(lines.map(({ kind }) => kind)).toEqual(['row']);
});
