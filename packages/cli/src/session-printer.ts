import { effectiveOutcome, serdeJsonString, type ImageRef, type SessionEvent } from '@celestea/core';

import { outcomeLabel } from './render.ts';
import type { Style } from './style.ts';
import { formatBytes, formatCount, safeLine, safeText } from './text.ts';
import { WaitingCalls } from './turn-meter.ts';

/** What a {@link SessionPrinter} writes to and with. */
export interface SessionPrinterOptions {
  readonly write: (text: string) => unknown;
  readonly style: Style;
}

type RowOf<Type extends SessionEvent['type']> = Extract<SessionEvent, { type: Type }>;

/** What stands at the end of the output. */
type Block = 'nothing' | 'turn' | 'user' | 'thinking' | 'tools' | 'text' | 'end';

const LONGEST_ID = 80;
const LONGEST_NAME = 60;
const MOST_NAMES = 4;
const LONGEST_ARGS = 160;
const LONGEST_VALUE = 200;
const LONGEST_ERROR = 400;

/**
 * Writes the rows of a session for people to read. Nothing that a row holds reaches the
 * terminal as it is: see {@link safeText}.
 */
export class SessionPrinter {
  readonly #write: (text: string) => unknown;
  readonly #style: Style;
  #block: Block = 'nothing';
  #openTurn: string | null = null;
  #callCount = 0;
  #calls = new WaitingCalls<string>();

  constructor({ write, style }: SessionPrinterOptions) {
    this.#write = write;
    this.#style = style;
  }

  /** Writes what one row says. */
  print(row: SessionEvent): void {
    switch (row.type) {
      case 'turn_start':
        this.#turnStart(row);
        return;
      case 'turn_end':
        this.#turnEnd(row);
        return;
      case 'user_message':
        this.#userMessage(row);
        return;
      case 'assistant_message':
        if (row.text !== '') this.#line('text', safeText(row.text));
        return;
      case 'thinking_delta':
        if (row.text !== '') this.#line('thinking', this.#style.dim(safeText(row.text)));
        return;
      case 'tool_call':
        this.#toolCall(row);
        return;
      case 'tool_result':
        this.#toolResult(row);
        return;
      default:
        row satisfies never;
    }
  }

  /** No row is left: says when the last turn has no end. */
  end(): void {
    if (this.#openTurn === null) return;
    this.#line('end', this.#style.yellow(`${this.#openTurn} has not ended`));
  }

  #turnStart({ id }: RowOf<'turn_start'>): void {
    this.end();
    this.#openTurn = safeLine(id, LONGEST_ID);
    this.#callCount = 0;
    this.#calls = new WaitingCalls();
    this.#line('turn', this.#style.bold(this.#openTurn));
  }

  #turnEnd({ id, outcome }: RowOf<'turn_end'>): void {
    this.#openTurn = null;
    const label = outcomeLabel(effectiveOutcome(outcome), this.#style);
    this.#line('end', `${safeLine(id, LONGEST_ID)} ${label}`);
  }

  #userMessage({ text, attachments = [] }: RowOf<'user_message'>): void {
    const lines = safeText(text).split('\n');
    if (attachments.length > 0) lines.push(imagesLine(attachments));
    const { bold } = this.#style;
    this.#line('user', `› ${lines.map((line) => bold(line)).join('\n  ')}`);
  }

  #toolCall({ id, name, args, parent_id }: RowOf<'tool_call'>): void {
    this.#callCount += 1;
    const { bold, cyan, dim } = this.#style;
    const number = `#${String(this.#callCount)}`;
    const shownName = safeLine(name, LONGEST_NAME);
    const label = `${number} ${shownName}`;
    this.#calls.add(id, label);
    const shownArgs = dim(safeLine(serdeJsonString(args), LONGEST_ARGS));
    const line = `${cyan('→')} ${number} ${bold(shownName)} ${shownArgs}`;
    this.#line('tools', nested(line, parent_id));
  }

  #toolResult(row: RowOf<'tool_result'>): void {
    const label = this.#calls.take(row.id) ?? `#? (${safeLine(row.id, LONGEST_ID)})`;
    this.#line('tools', nested(this.#result(label, row), row.parent_id));
  }

  #result(label: string, { value, error, abandoned }: RowOf<'tool_result'>): string {
    const { green, red, yellow, dim } = this.#style;
    const problem = safeLine(error ?? '', LONGEST_ERROR);
    if (abandoned === true) {
      return `${yellow('!')} ${label} ${yellow('abandoned')}: its outcome is not known`;
    }
    if (error !== null) return `${red('✗')} ${label} ${red('failed')}: ${problem}`;
    const json = serdeJsonString(value);
    const text = safeLine(typeof value === 'string' ? value : json, LONGEST_VALUE);
    return `${green('✓')} ${label} ${dim(`${formatBytes(Buffer.byteLength(json))} · ${text}`)}`;
  }

  /** Turns stand apart, and so do a question, an answer and the end. */
  #line(block: Block, line: string): void {
    const former = this.#block;
    this.#block = block;
    const starts = block === 'turn' || block === 'text' || block === 'end';
    const ends = former === 'user' || former === 'text' || former === 'end';
    const apart = former !== block && former !== 'nothing' && (starts || ends);
    this.#write(`${apart ? '\n' : ''}${line}${line.endsWith('\n') ? '' : '\n'}`);
  }
}

/** How many pictures a message has, and what the first of them are called. */
function imagesLine(refs: readonly ImageRef[]): string {
  const names = refs.map(({ name }) => name).filter((name) => name !== undefined);
  const first = names.slice(0, MOST_NAMES).map((name) => safeLine(name, LONGEST_NAME));
  const shown = first.join(', ');
  const more = names.length > MOST_NAMES ? ', …' : '';
  return `(${formatCount(refs.length, 'image')}${shown === '' ? '' : `: ${shown}${more}`})`;
}

/** A call that another call made. */
const nested = (line: string, parent: string | undefined): string =>
  parent === undefined ? line : `  ${line}`;
