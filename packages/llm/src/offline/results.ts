import { plainText } from './text.ts';

/** A piece of a file, its lines counted from 1. */
export interface FileResult {
  readonly kind: 'file';
  readonly path: string;
  readonly lines: readonly string[];
  readonly firstLine: number;
  readonly lastLine: number;
  readonly totalLines: number | null;
  readonly truncated: boolean;
}

/** One line that a search found. */
export interface Match {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export interface SearchResult {
  readonly kind: 'search';
  readonly matches: readonly Match[];
  /** How many files there are; the tool may know of more than it hands over. */
  readonly files: number;
  readonly truncated: boolean;
}

export interface FolderEntry {
  readonly name: string;
  readonly isFolder: boolean;
}

export interface FolderResult {
  readonly kind: 'folder';
  readonly entries: readonly FolderEntry[];
  readonly truncated: boolean;
}

/** A file that was written. */
export interface WrittenResult {
  readonly kind: 'written';
  readonly path: string;
  /** The size of the file. */
  readonly bytes: number;
  /** Whether there was no file before. */
  readonly created: boolean;
}

/** The tool failed; `error` is what it said. */
export interface FailedResult {
  readonly kind: 'failed';
  readonly error: string;
}

/** A result of no known shape, kept as text. */
export interface RawResult {
  readonly kind: 'raw';
  readonly text: string;
}

export type ToolResult =
  | FileResult
  | SearchResult
  | FolderResult
  | WrittenResult
  | FailedResult
  | RawResult;

const MAX_ROWS = 1000;
const MAX_LINES = 5000;
const MAX_RAW = 1200;

type Fields = Readonly<Record<string, unknown>>;

/** Whether a value is an object with named fields. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Reads the text of a tool message. Whatever is not of the shape that the tool gives comes
 * back as `raw`; this never throws.
 */
export function readToolResult(tool: string, args: Fields, text: string): ToolResult {
  const error = /^\s*Error:\s*(.*)$/s.exec(text)?.[1];
  if (error !== undefined) return { kind: 'failed', error: plainText(error.slice(0, MAX_RAW)) };
  const value = parseJson(text);
  const read = isFields(value) ? readShape(tool, args, value) : null;
  if (read !== null) return read;
  const raw = typeof value === 'string' ? value : text;
  return { kind: 'raw', text: plainText(raw.slice(0, MAX_RAW)) };
}

function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

function readShape(tool: string, args: Fields, value: Fields): ToolResult | null {
  switch (tool) {
    case 'read_file':
      return readFile(args, value);
    case 'search_text':
      return readSearch(value);
    case 'list_dir':
      return readFolder(value);
    case 'write_file':
      return readWritten(value);
    default:
      return null;
  }
}

function readFile(args: Fields, value: Fields): FileResult | null {
  const body = value['text'];
  if (typeof body !== 'string') return null;
  const all = plainText(body).replace(/\n$/, '').split('\n');
  const lines = all.slice(0, MAX_LINES);
  const firstLine = positiveNumber(value['first_line']) ?? positiveNumber(args['offset']) ?? 1;
  const cut = lines.length < all.length;
  const reported = cut ? null : positiveNumber(value['last_line']);
  const lastLine = Math.max(firstLine, reported ?? firstLine + lines.length - 1);
  return {
    kind: 'file',
    path: textOf(value['path']) ?? textOf(args['path']) ?? '(unnamed file)',
    lines,
    firstLine,
    lastLine,
    totalLines: positiveNumber(value['total_lines']),
    truncated: cut || value['truncated'] === true,
  };
}

function readSearch(value: Fields): SearchResult | null {
  const rows = value['matches'];
  if (!Array.isArray(rows)) return null;
  const matches: Match[] = [];
  for (const row of rows.slice(0, MAX_ROWS) as readonly unknown[]) {
    if (!isFields(row)) continue;
    const path = textOf(row['path']);
    const line = positiveNumber(row['line']);
    const text = row['text'];
    if (path !== null && line !== null) {
      matches.push({ path, line, text: typeof text === 'string' ? plainText(text) : '' });
    }
  }
  if (matches.length === 0 && rows.length > 0) return null;
  const files = new Set(matches.map((match) => match.path)).size;
  return {
    kind: 'search',
    matches,
    files: Math.max(files, positiveNumber(value['files']) ?? 0),
    truncated: value['truncated'] === true || rows.length > MAX_ROWS,
  };
}

function readFolder(value: Fields): FolderResult | null {
  const rows = value['entries'];
  if (!Array.isArray(rows)) return null;
  const entries: FolderEntry[] = [];
  for (const row of rows.slice(0, MAX_ROWS) as readonly unknown[]) {
    const name = textOf(isFields(row) ? row['name'] : row);
    if (name === null) continue;
    const isFolder = name.endsWith('/') || (isFields(row) && row['kind'] === 'folder');
    entries.push({ name: name.replace(/\/+$/, ''), isFolder });
  }
  if (entries.length === 0 && rows.length > 0) return null;
  const truncated = value['truncated'] === true || rows.length > MAX_ROWS;
  return { kind: 'folder', entries, truncated };
}

function readWritten(value: Fields): WrittenResult | null {
  const path = textOf(value['path']);
  const bytes = value['bytes'] === 0 ? 0 : positiveNumber(value['bytes']);
  const created = value['created'];
  if (path === null || bytes === null || typeof created !== 'boolean') return null;
  return { kind: 'written', path, bytes, created };
}

function textOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = plainText(value.slice(0, 500)).replaceAll('\n', ' ').trim();
  return text === '' ? null : text;
}

function positiveNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null;
}
