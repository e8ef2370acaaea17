import { isRecord } from '@celestea/core';

import type { Item } from './view.ts';
import { beginningOf } from './visible-text.ts';
import { countWords } from './words.ts';

/** A piece of a result, as text. */
interface ResultPart {
  /** Empty when there is only one. */
  readonly label: string;
  readonly text: string;
}

/** A result, as a person reads it. */
interface ResultText {
  readonly parts: readonly ResultPart[];
  /** What of it was left out; `null` when it is whole. */
  readonly cut: string | null;
}

/** What is told on one line, in UTF-16 units. */
const GIST = 120;

/** How the tools say inside a text that something is missing there. */
const LEFT_OUT =
  /\[(?:… )?[\d,]+ (?:bytes|characters|of \d+ characters|more items?)? ?left out(?: …)?\]/;

/** The texts of a result's value: of a command its output, of a file its text, else JSON. */
export function resultText(value: unknown): ResultText {
  const parts = partsOf(value);
  return { parts, cut: cutOf(value, parts) };
}

/** A value as a text that can be read. */
interface ValueText {
  readonly text: string;
  /** Whether all of the value stands there. */
  readonly isWhole: boolean;
}

/** More of a value is not written, in UTF-16 units. */
const MAX_LENGTH = 1_000_000;

/** Any value as text that can be read. */
export const valueText = (value: unknown): string => wholeText(value).text;

/** The same, and whether it is all of the value. */
export function wholeText(value: unknown): ValueText {
  if (typeof value === 'string') return { text: value, isWhole: true };
  const text = jsonText(value, 2);
  if (text === null) return { text: '[… nested too deep to be shown …]', isWhole: false };
  if (text.length <= MAX_LENGTH) return { text, isWhole: true };
  const rest = `[… longer than ${countWords(MAX_LENGTH)} characters, the rest is left out …]`;
  return { text: `${beginningOf(text, MAX_LENGTH)}\n${rest}`, isWhole: false };
}

/** `null` for what ends the stack, as rows of old logs may; new ones are nested no deeper than 200. */
function jsonText(value: unknown, indent: number): string | null {
  try {
    return JSON.stringify(value, null, indent);
  } catch {
    return null;
  }
}

/** What an item says, for when it cannot be drawn. */
export function plainText(item: Item): string {
  switch (item.kind) {
    case 'user':
    case 'reasoning':
    case 'reply':
    case 'notice':
      return item.text;
    case 'call': {
      const { name, args, result } = item;
      const came = result === null ? '' : `\n${result.error ?? valueText(result.value)}`;
      return `${name} ${valueText(args)}${came}`;
    }
    default:
      return item satisfies never;
  }
}

/** The arguments of a call on one line: of one text alone, that text. */
export function gistOf(args: unknown): string {
  if (typeof args !== 'object' || args === null) return '';
  const entries = Object.entries(args);
  const [only] = entries;
  if (entries.length === 1 && typeof only?.[1] === 'string') return shortened(only[1]);
  let gist = '';
  for (const [name, value] of entries) {
    const text = typeof value === 'string' ? value : (jsonText(value, 0) ?? '…');
    gist += `${gist === '' ? '' : ' '}${name}=${beginningOf(text, GIST + 1)}`;
    if (gist.length > GIST) break;
  }
  return shortened(gist);
}

function shortened(text: string): string {
  return text.length > GIST ? `${beginningOf(text, GIST)}…` : text;
}

function partsOf(value: unknown): ResultPart[] {
  if (value === null || value === undefined) return [];
  if (!isRecord(value)) return [{ label: '', text: valueText(value) }];
  if (typeof value['stdout'] === 'string' && typeof value['stderr'] === 'string') {
    return commandParts(value);
  }
  if (typeof value['text'] === 'string') {
    return [{ label: shortFields(value), text: value['text'] }];
  }
  return [{ label: '', text: valueText(value) }];
}

function commandParts(value: Record<string, unknown>): ResultPart[] {
  const { exit_code: code, signal, timed_out, note } = value;
  const end = typeof code === 'number' ? `exit code ${String(code)}` : `ended by ${String(signal)}`;
  const timed = timed_out === true ? `${end}, its time was up` : end;
  const text = typeof note === 'string' ? `${timed}\n${note}` : timed;
  const output = ['stdout', 'stderr'].flatMap((label) => {
    const written = value[label];
    return typeof written === 'string' && written !== '' ? [{ label, text: written }] : [];
  });
  return [{ label: '', text }, ...output];
}

/** The small fields beside a text, on one line. */
function shortFields(fields: Record<string, unknown>): string {
  return Object.entries(fields)
    .filter(([name]) => name !== 'text' && name !== 'note')
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(', ');
}

function cutOf(value: unknown, parts: readonly ResultPart[]): string | null {
  if (isRecord(value) && value['truncated'] === true) {
    const note = value['note'];
    return typeof note === 'string' ? note : 'something was left out';
  }
  for (const { text } of parts) {
    const found = LEFT_OUT.exec(text);
    if (found !== null) return found[0].replaceAll(/[[\]…]/g, '').trim();
  }
  return null;
}
