import type { Tool } from '@celestea/core';

import { defineTool } from '../define-tool.ts';
import { codePointStart, counted, noteOf } from '../text.ts';
import { looksBinary } from './binary.ts';
import { FileRoot, PATH, type OpenFile } from './file-root.ts';
import { walkFiles } from './walk.ts';

const DEFAULT_RESULTS = 100;
const MAX_RESULTS = 1_000;
const MAX_QUERY = 1_000;
/** How much of a line is shown, and how much of that stands in front of the match. */
const MAX_LINE = 240;
const LINE_LEAD = 80;
/** The largest file that is searched. */
const MAX_BYTES = 2 * 2 ** 20;

/** One line that holds the text. */
export interface SearchTextMatch {
  /** Relative to the root, with forward slashes. */
  path: string;
  /** Counted from 1. */
  line: number;
  /** The line, or the 240 characters around the match with an ellipsis where it was cut. */
  text: string;
}

/** What `search_text` gives: matching lines, sorted by path and line. */
export interface SearchTextResult {
  query: string;
  matches: SearchTextMatch[];
  files_searched: number;
  /** Whether there are more matches than `max_results`. */
  truncated: boolean;
  /** What was left out. */
  note?: string;
}

interface Search {
  query: string;
  path: string;
  ignoreCase: boolean;
  maxResults: number;
}

/**
 * The tool `search_text`: the lines below `root` that hold a literal text, never a regular
 * expression. Files that are binary or larger than 2 MiB are skipped and counted in the note;
 * links, and folders named `node_modules`, `.git` or `dist`, are not entered unless `path` names
 * them. Throws a `TypeError` when `root` is no path, an `Error` when no folder stands there.
 */
export function searchTextTool(root: string): Tool {
  const files = new FileRoot(root);
  return defineTool({
    name: 'search_text',
    description:
      'Finds the lines that hold a text. The text is literal, not a regular expression. Skips ' +
      'node_modules, .git, .celestea, dist, links, binary files and files over 2 MiB.',
    readOnly: true,
    parameters: {
      type: 'object',
      properties: {
        query: {
          type: 'string',
          minLength: 1,
          maxLength: MAX_QUERY,
          description: 'The text; one line.',
        },
        path: {
          ...PATH,
          default: '.',
          description: 'The file or folder to search, relative to the root; all when left out.',
        },
        ignore_case: {
          type: 'boolean',
          default: false,
          description: 'Whether A and a are the same.',
        },
        max_results: {
          type: 'integer',
          minimum: 1,
          maximum: MAX_RESULTS,
          default: DEFAULT_RESULTS,
          description: 'How many lines to give.',
        },
      },
      required: ['query'],
      additionalProperties: false,
    },
    execute({ query, path = '.', ignore_case = false, max_results = DEFAULT_RESULTS }, { signal }) {
      if (/[\r\n]/.test(query)) {
        throw new Error('query: expected text on one line, got several lines');
      }
      const search = { query, path, ignoreCase: ignore_case, maxResults: max_results };
      return searchText(files, search, signal);
    },
    render: ({ query, matches, truncated }) =>
      `${JSON.stringify(query)}: ${counted(matches.length, 'line', 'lines', truncated)}`,
  });
}

async function searchText(
  files: FileRoot,
  search: Search,
  signal: AbortSignal | undefined,
): Promise<SearchTextResult> {
  const { query, maxResults } = search;
  const matches: SearchTextMatch[] = [];
  let searched = 0;
  let skipped = 0;
  for await (const path of walkFiles(files, search.path, signal)) {
    const text = path.isReadable ? await smallText(files, path.shown) : null;
    if (text === null) {
      skipped += 1;
      continue;
    }
    searched += 1;
    for (const { line, excerpt } of matchingLines(text, search)) {
      matches.push({ path: path.shown, line, text: excerpt });
      // One more than is wanted tells whether something is left out.
      if (matches.length > maxResults) break;
    }
    if (matches.length > maxResults) break;
  }
  const truncated = matches.length > maxResults;
  const cut =
    `stopped after ${String(maxResults)} lines, there are more; ` +
    'narrow the query or the path, or raise max_results';
  const left = `${String(skipped)} binary, oversized or unreadable entries were not searched`;
  return {
    query,
    matches: matches.slice(0, maxResults),
    files_searched: searched,
    truncated,
    ...noteOf(truncated && cut, skipped > 0 && left),
  };
}

/** The text of a file; `null` when it is too large, binary or cannot be read. */
async function smallText(files: FileRoot, path: string): Promise<string | null> {
  const bytes = await files.withFile(path, readWhole).catch(() => null);
  return bytes === null || looksBinary(bytes) ? null : new TextDecoder().decode(bytes);
}

async function readWhole({ handle, bytes: size }: OpenFile): Promise<Uint8Array | null> {
  if (size > MAX_BYTES) return null;
  const bytes = new Uint8Array(size);
  let filled = 0;
  // No further than the size it had when opened: a file that grows must not be followed.
  while (filled < size) {
    const { bytesRead } = await handle.read(bytes, filled, size - filled, null);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

function* matchingLines(
  text: string,
  { query, ignoreCase }: Search,
): Generator<{ line: number; excerpt: string }> {
  const fold = (part: string): string => (ignoreCase ? part.toLowerCase() : part);
  const wanted = fold(query);
  // Most files hold no match, and need not be cut into lines to know it.
  if (!fold(text).includes(wanted)) return;
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    const at = fold(line).indexOf(wanted);
    if (at !== -1) yield { line: index + 1, excerpt: excerptAt(line, at) };
  }
}

function excerptAt(line: string, at: number): string {
  if (line.length <= MAX_LINE) return line;
  const from = Math.max(0, Math.min(at - LINE_LEAD, line.length - MAX_LINE));
  const start = codePointStart(line, from);
  const end = codePointStart(line, from + MAX_LINE);
  const [head, tail] = [start > 0 ? '…' : '', end < line.length ? '…' : ''];
  return `${head}${line.slice(start, end)}${tail}`;
}
