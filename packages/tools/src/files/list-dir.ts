import type { Tool } from '@celestea/core';

import { defineTool } from '../define-tool.ts';
import { counted, noteOf } from '../text.ts';
import { FileRoot, kindOf, PATH, type FileKind } from './file-root.ts';

const MAX_ENTRIES = 500;

/** One entry of a folder. A link is shown as such, wherever it leads. */
export interface ListDirEntry {
  name: string;
  kind: FileKind;
  /** The size of a file. */
  bytes?: number;
}

/** What `list_dir` gives: at most 500 entries, sorted by name in code-unit order. */
export interface ListDirResult {
  /** Relative to the root, with forward slashes; the root is `.`. */
  path: string;
  entries: ListDirEntry[];
  total_entries: number;
  truncated: boolean;
  /** What was left out. */
  note?: string;
}

/**
 * The tool `list_dir`: the entries of one folder at or below `root`, which it cannot leave.
 * Throws a `TypeError` when `root` is no path, an `Error` when no folder stands there.
 */
export function listDirTool(root: string): Tool {
  const files = new FileRoot(root);
  return defineTool({
    name: 'list_dir',
    description: 'Lists the files and folders of one folder, with the sizes of files in bytes.',
    readOnly: true,
    parameters: {
      type: 'object',
      properties: {
        path: {
          ...PATH,
          default: '.',
          description: 'The folder, relative to the root; the root itself when left out.',
        },
      },
      additionalProperties: false,
    },
    execute: ({ path = '.' }, { signal }) => listDir(files, path, signal),
    render: ({ path, total_entries }) => `${path}: ${counted(total_entries, 'entry', 'entries')}`,
  });
}

async function listDir(
  files: FileRoot,
  path: string,
  signal: AbortSignal | undefined,
): Promise<ListDirResult> {
  signal?.throwIfAborted();
  const { place, entries: all } = await files.folder(path);
  const entries: ListDirEntry[] = [];
  for (const entry of all.slice(0, MAX_ENTRIES)) {
    signal?.throwIfAborted();
    const kind = kindOf(entry);
    const bytes = kind === 'file' ? await files.sizeOf(place, entry.name) : null;
    entries.push({ name: entry.name, kind, ...(bytes === null ? {} : { bytes }) });
  }
  const left = all.length - entries.length;
  return {
    path: place.shown,
    entries,
    total_entries: all.length,
    truncated: left > 0,
    ...noteOf(left > 0 && `the last ${String(left)} entries were left out`),
  };
}
