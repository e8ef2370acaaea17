import * as fs from 'node:fs';

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
    ...['\n', '\r\n', 'bad\n', `${'\0'.repeat(3)}\n`, '   \n', '😀\n'],
  );
  const tail = fc.constantFrom('', '{"type":"us', '{"type":"user_message","text":"ä', '  ', 'odd');
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
