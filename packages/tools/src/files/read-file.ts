import type { Tool } from '@celestea/core';

import { defineTool } from '../define-tool.ts';
import { noteOf } from '../text.ts';
import { looksBinary, SAMPLE_BYTES } from './binary.ts';
import { FileRoot, PATH, type OpenFile } from './file-root.ts';
import { quotePath } from './fs-error.ts';
import { readLineWindow, type LineWindow } from './line-window.ts';

const DEFAULT_LINES = 400;
const MAX_LINES = 2_000;
const MAX_TEXT_BYTES = 65_536;
/** The largest file whose lines are counted to the end. */
const MAX_COUNT_BYTES = 4 * 2 ** 20;
/** How far into a file a wanted line may lie. */
const MAX_SCAN_BYTES = 64 * 2 ** 20;

/** What `read_file` gives: whole lines, at most 2000 and 64 KiB of them. */
export interface ReadFileResult {
  /** Relative to the root, with forward slashes. */
  path: string;
  /** The lines as they stand in the file, line breaks included; a byte order mark is dropped. */
  text: string;
  /** Counted from 1. */
  first_line: number;
  /** One less than `first_line` when the file is empty. */
  last_line: number;
  /** `null` when the file is over 4 MiB and was not read to its end. */
  total_lines: number | null;
  /** Whether something after `last_line`, or the end of that line, was left out. */
  truncated: boolean;
  /** What was left out, and how to read on. */
  note?: string;
}

/**
 * The tool `read_file`: lines of one UTF-8 text file below `root`, which it cannot leave. A
 * binary file is an error; of a huge one no more is read than gets at the lines. Throws a
 * `TypeError` when `root` is no path, an `Error` when no folder stands there.
 */
export function readFileTool(root: string): Tool {
  const files = new FileRoot(root);
  return defineTool({
    name: 'read_file',
    description:
      'Reads lines of a text file. Long files are read in parts: the result says what was ' +
      'left out and at which offset to read on.',
    readOnly: true,
    parameters: {
      type: 'object',
      properties: {
        path: { ...PATH, description: 'The file, relative to the root.' },
        offset: {
          type: 'integer',
          minimum: 1,
          default: 1,
          description: 'The first line to read, counted from 1.',
        },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: MAX_LINES,
          default: DEFAULT_LINES,
          description: 'How many lines to read.',
        },
      },
      required: ['path'],
      additionalProperties: false,
    },
    execute({ path, offset = 1, limit = DEFAULT_LINES }, { signal }) {
      signal?.throwIfAborted();
      return files.withFile(path, (file) => readLines(file, offset, limit, signal));
    },
    render: ({ path, first_line, last_line }) =>
      `${path}, lines ${String(first_line)} to ${String(last_line)}`,
  });
}

async function readLines(
  file: OpenFile,
  offset: number,
  limit: number,
  signal: AbortSignal | undefined,
): Promise<ReadFileResult> {
  const refuseBinary = (bytes: Uint8Array): void => {
    if (!looksBinary(bytes)) return;
    const came = `${quotePath(file.shown)}, which is binary or in another encoding`;
    throw new Error(`path: expected a UTF-8 text file, got ${came}`);
  };
  const window = await readLineWindow(
    file.handle,
    {
      offset,
      limit,
      maxBytes: MAX_TEXT_BYTES,
      maxScanBytes: MAX_SCAN_BYTES,
      countAll: file.bytes <= MAX_COUNT_BYTES,
    },
    (start) => {
      refuseBinary(start.subarray(0, SAMPLE_BYTES));
    },
    signal,
  );
  if (window === null) {
    const reach = `the first ${String(MAX_SCAN_BYTES / 2 ** 20)} MiB of the file`;
    throw new Error(`offset: expected a line in ${reach}, got ${String(offset)}`);
  }
  const { lastLine, totalLines, hasMore, isCut, bytes } = window;
  // An empty file has no line 1, but reading it from its start is no mistake.
  if (totalLines !== null && offset > Math.max(totalLines, 1)) {
    const lines = `at most ${String(totalLines)}, the last line of the file`;
    throw new Error(`offset: expected ${lines}, got ${String(offset)}`);
  }
  refuseBinary(bytes);
  return {
    path: file.shown,
    // As a stream when the line was cut, which drops the half of a character at its end.
    text: new TextDecoder().decode(bytes, { stream: isCut }),
    first_line: offset,
    last_line: lastLine,
    total_lines: totalLines,
    truncated: hasMore,
    ...noteOf(hasMore && noteFor(window)),
  };
}

function noteFor({ lastLine, totalLines, isCut }: LineWindow): string {
  const next = String(lastLine + 1);
  const cut = `line ${String(lastLine)} was cut at ${String(MAX_TEXT_BYTES)} bytes`;
  if (isCut && lastLine === totalLines) return cut;
  const end = totalLines === null ? 'on' : `to ${String(totalLines)}`;
  const left = `lines from ${next} ${end} were left out; read on with offset ${next}`;
  return isCut ? `${cut}; ${left}` : left;
}
