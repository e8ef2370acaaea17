import type { Tool } from '@celestea/core';

import { Arguments } from '../arguments.ts';
import { defineTool } from '../define-tool.ts';
import { MAX_PATH, type FileRoot } from '../files/file-root.ts';
import { quotePath } from '../files/fs-error.ts';
import { isRecord, mismatch } from '../shape.ts';
import { counted } from '../text.ts';
import { putFile, type Expectation } from './put-file.ts';

/** The largest file that is written, in UTF-8 bytes. */
const MAX_CONTENT_BYTES = 4 * 2 ** 20;

/** What `write_file` gives. */
export interface WriteFileResult {
  /** Relative to the root, with forward slashes. */
  path: string;
  /** The size of the file in bytes. */
  bytes: number;
  /** Whether there was no file before. */
  created: boolean;
}

/**
 * The tool `write_file`: puts a whole UTF-8 file below the root, which it cannot leave. The file
 * is there as a whole or not at all, and one that was there keeps its permissions, but for the
 * set-user-id bit. Only a regular file is replaced: a folder, a link, a pipe and a device are
 * refused.
 */
export function writeFileTool(files: FileRoot): Tool {
  return defineTool<WriteFileResult>({
    name: 'write_file',
    description:
      'Writes a whole text file: makes it, or replaces all that it holds. Folders on the way ' +
      'must exist unless create_folders is true.',
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string', minLength: 1, description: 'The file, relative to the root.' },
        content: { type: 'string', description: 'All that the file is to hold.' },
        create_folders: {
          type: 'boolean',
          description: 'Whether to make the folders on the way that do not exist; false.',
        },
        expect: {
          enum: ['new', 'existing'],
          description: 'Fails if the file is there (new), or is not (existing).',
        },
      },
      required: ['path', 'content'],
      additionalProperties: false,
    },
    async execute(args, { signal }) {
      const given = new Arguments(args, ['path', 'content', 'create_folders', 'expect']);
      const path = given.text('path', MAX_PATH);
      const content = readContent(path, isRecord(args) ? args['content'] : undefined);
      const expected = readExpectation(isRecord(args) ? args['expect'] : undefined);
      const createFolders = given.flag('create_folders', false);
      signal?.throwIfAborted();
      const target = await files.locateTarget(path);
      const { created } = await putFile({ target, content, createFolders, expected, signal });
      return { path: target.shown, bytes: content.length, created };
    },
    render: ({ path, bytes, created }) =>
      `${path}: ${created ? 'made' : 'replaced'}, ${counted(bytes, 'byte', 'bytes')}`,
  });
}

function readContent(path: string, content: unknown): Buffer {
  if (typeof content !== 'string') throw new Error(mismatch('content', 'a string', content));
  // UTF-8 has no half of a pair: it would be written as something else.
  if (/\p{Surrogate}/u.test(content)) {
    throw new Error('content: expected Unicode text, got one with half of a surrogate pair');
  }
  const bytes = Buffer.byteLength(content);
  if (bytes > MAX_CONTENT_BYTES) {
    const most = `at most ${String(MAX_CONTENT_BYTES)} bytes for ${quotePath(path)}`;
    throw new Error(`content: expected ${most}, got ${String(bytes)}`);
  }
  return Buffer.from(content);
}

function readExpectation(expected: unknown): Expectation {
  if (expected === undefined || expected === null) return 'any';
  if (expected === 'new' || expected === 'existing') return expected;
  throw new Error(mismatch('expect', '"new" or "existing"', expected));
}
