import { isRecord } from '@celestea/core';

import { findPassages } from './passages.ts';
import { counted, inCode, oneLine, quoted } from './text.ts';
import type { Look } from './want.ts';

type Fields = Readonly<Record<string, unknown>>;

const MAX_ROWS = 5000;
const MAX_HEAD = 20;
const MAX_ENTRIES = 60;
const MAX_FILES = 12;

/** Tells what a tool brought, from the text of its message; never throws. */
export function showResult(look: Look, text: string | undefined): string {
  const call = `${inCode(look.name)} with ${inCode(JSON.stringify(look.args))}`;
  if (text === undefined) return `I have no result of ${call}.`;
  const error = /^\s*Error:(.*)$/s.exec(text)?.[1];
  if (error !== undefined) return `${call} failed: ${oneLine(error, 300)}`;
  const value = parsed(text);
  const shown = isRecord(value) ? SHOW[look.name](look, value) : null;
  if (shown !== null) return shown;
  const lines = text.slice(0, 1200).split('\n').slice(0, MAX_HEAD);
  return `${call} brought a result of a form that I do not know:\n\n${quoted(lines)}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // not every tool answers in JSON
  }
}

/** Each gives `null` for what does not have the form of the tool's results. */
const SHOW: Readonly<Record<Look['name'], (look: Look, value: Fields) => string | null>> = {
  read_file: showFile,
  search_text: showMatches,
  list_dir: showFolder,
  write_file: showWritten,
};

function showFile({ args, topics }: Look, value: Fields): string | null {
  const { text } = value;
  if (typeof text !== 'string') return null;
  const path = String(args['path']);
  const name = inCode(path);
  if (text === '') return `${name} is empty.`;
  const lines = text.replace(/\n$/, '').split('\n').slice(0, MAX_ROWS);
  const first = whole(value['first_line']) ?? 1;
  const total = whole(value['total_lines']);
  const last = first + lines.length - 1;
  const length = total === null
    ? `I cannot tell how many lines ${name} has.`
    : `${name} has ${counted(total, 'line')}.`;
  if (topics === null) return length;
  const quote = (from: number, to: number): string => {
    const place = inCode(`${path}:${span(first + from, first + to - 1)}`);
    return `${place}\n\n${quoted(lines.slice(from, to))}`;
  };
  const isPart = first > 1 || last !== total;
  const lead = isPart ? `${length} I read ${span(first, last)}.` : length;
  const passages = findPassages(lines, topics).map(({ from, to }) => quote(from, to));
  if (passages.length > 0) return [...(isPart ? [lead] : []), ...passages].join('\n\n');
  const silent = ` What I read does not mention ${topics.map(inCode).join(', ')}.`;
  const head = quote(0, Math.min(MAX_HEAD, lines.length));
  return `${lead}${topics.length > 0 ? silent : ''}\n\n${head}`;
}

const span = (from: number, to: number): string =>
  from === to ? String(from) : `${String(from)}–${String(to)}`;

function showMatches({ args }: Look, value: Fields): string | null {
  const matches = rowsOf(value['matches'], 'path');
  if (matches === null) return null;
  const scope = args['path'] === undefined ? '' : ` in ${inCode(String(args['path']))}`;
  const what = `${inCode(String(args['query']))}${scope}`;
  if (matches.length === 0) return `I found ${what} nowhere.`;
  const files = new Map<string, Fields[]>();
  for (const { name, row } of matches) {
    const rows = files.get(name);
    if (rows === undefined) files.set(name, [row]);
    else rows.push(row);
  }
  const rows = [...files].slice(0, MAX_FILES).map(([name, [match = {}, ...more]]) => {
    const place = `${name}:${String(whole(match['line']) ?? '?')}`;
    const rest = more.length > 0 ? ` (and ${counted(more.length, 'more line')})` : '';
    const text = typeof match['text'] === 'string' ? ` ${inCode(match['text'])}` : '';
    return `- ${inCode(place)}${text}${rest}`;
  });
  if (files.size > MAX_FILES) rows.push(`- and ${String(files.size - MAX_FILES)} more`);
  const most = value['truncated'] === true ? 'at least ' : '';
  const sum = `${most}${counted(matches.length, 'line')} of ${counted(files.size, 'file')}`;
  return `I found ${what} in ${sum}:\n\n${rows.join('\n')}`;
}

function showFolder({ args }: Look, value: Fields): string | null {
  const entries = rowsOf(value['entries'], 'name');
  if (entries === null) return null;
  const path = args['path'];
  const folder = typeof path === 'string' ? `The folder ${inCode(path)}` : 'The folder I work in';
  const names = entries.map(({ name, row }) => {
    return inCode(row['kind'] === 'folder' ? `${name}/` : name);
  });
  const total = whole(value['total_entries']) ?? names.length;
  const shown = names.slice(0, MAX_ENTRIES);
  const more = total > shown.length ? `, and ${String(total - shown.length)} more` : '';
  const named = shown.length === 0 ? '.' : `: ${shown.join(', ')}${more}`;
  return `${folder} has ${counted(total, 'entry', 'entries')}${named}`;
}

function showWritten({ args }: Look, value: Fields): string | null {
  const bytes = whole(value['bytes']);
  if (bytes === null) return null;
  const how = value['created'] === false ? 'It replaces what was there.' : 'The file is new.';
  return `I wrote ${counted(bytes, 'byte')} to ${inCode(String(args['path']))}. ${how}`;
}

/** The rows that have a name in this field; `null` where there are others alone, or no list. */
function rowsOf(list: unknown, field: string): { name: string; row: Fields }[] | null {
  if (!Array.isArray(list)) return null;
  const rows = (list.slice(0, MAX_ROWS) as readonly unknown[]).flatMap((row) => {
    const name = isRecord(row) ? row[field] : null;
    return isRecord(row) && typeof name === 'string' ? [{ name, row }] : [];
  });
  return rows.length === 0 && list.length > 0 ? null : rows;
}

/** A whole number that is not negative, else `null`. */
const whole = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
