import type { Tool } from '@celestea/core';

import { defineTool } from '../define-tool.ts';
import { PATH, type FileRoot } from '../files/file-root.ts';
import { quotePath } from '../files/fs-error.ts';
import { counted } from '../text.ts';
import { putFile } from './put-file.ts';

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
  return defineTool({
    name: 'write_file',
    description:
      'Writes a whole text file: makes it, or replaces all that it holds. Folders on the way ' +
      'must exist unless create_folders is true.',
    parameters: {
      type: 'object',
      properties: {
        path: { ...PATH, description: 'The file, relative to the root.' },
        content: { type: 'string', description: 'All that the file is to hold.' },
        create_folders: {
          type: 'boolean',
          default: false,
          description: 'Whether to make the folders on the way that do not exist.',
        },
        expect: {
          enum: ['new', 'existing'],
          description: 'Fails if the file is there (new), or is not (existing).',
        },
      },
      required: ['path', 'content'],
      additionalProperties: false,
    },
    async execute(
      { path, content, create_folders: createFolders = false, expect: expected },
      { signal },
    ): Promise<WriteFileResult> {
      const bytes = utf8Of(content, path);
      signal?.throwIfAborted();
      const target = await files.locateTarget(path);
      const request = { target, content: bytes, createFolders, expected, signal };
      const { created } = await putFile(request);
      return { path: target.shown, bytes: bytes.length, created };
    },
    render: ({ path, bytes, created }) =>
      `${path}: ${created ? 'made' : 'replaced'}, ${counted(bytes, 'byte', 'bytes')}`,
  });
}

function utf8Of(content: string, path: string): Buffer {
  // UTF-8 has no half of a pair: it would be written as something else.
  if (!content.isWellFormed()) {
    throw new Error('content: expected Unicode text, got one with half of a surrogate pair');
  }
  const bytes = Buffer.byteLength(content);
  if (bytes > MAX_CONTENT_BYTES) {
    const most = `at most ${String(MAX_CONTENT_BYTES)} bytes for ${quotePath(path)}`;
    throw new Error(`content: expected ${most}, got ${String(bytes)}`);
  }
  return Buffer.from(content);
}
