import { toolCallEvent } from '@celestea/agent-loop';
import { effectiveOutcome, serdeJsonString, type ImageRef, type SessionEvent } from '@celestea/core';

import { outcomeLabel, TurnRenderer } from './render.ts';
import type { Style } from './style.ts';
import { formatCount, safeLine, safeText } from './text.ts';

const LONGEST_ID = 80;
const LONGEST_NAME = 60;
const MOST_NAMES = 4;

/** Writes the rows of a session for people to read, as a {@link TurnRenderer} writes a turn. */
export class SessionPrinter {
  readonly #style: Style;
  readonly #renderer: TurnRenderer;
  #openTurn: string | null = null;

  constructor(write: (text: string) => unknown, style: Style) {
    this.#style = style;
    this.#renderer = new TurnRenderer({ write, style, figures: null });
  }

  /** Writes what one row says. */
  print(row: SessionEvent): void {
    switch (row.type) {
      case 'turn_start':
        this.end();
        this.#openTurn = safeLine(row.id, LONGEST_ID);
        this.#renderer.beginTurn(this.#openTurn);
        return;
      case 'turn_end': {
        this.#openTurn = null;
        const label = outcomeLabel(effectiveOutcome(row.outcome), this.#style);
        this.#renderer.notice(`${safeLine(row.id, LONGEST_ID)} ${label}`, 'end');
        return;
      }
      case 'user_message': {
        const { text, attachments = [] } = row;
        const lines = safeText(text).split('\n');
        if (attachments.length > 0) lines.push(imagesLine(attachments));
        const { bold } = this.#style;
        this.#renderer.notice(`› ${lines.map((line) => bold(line)).join('\n  ')}`, 'user');
        return;
      }
      case 'assistant_message':
      case 'thinking_delta': {
        const kind = row.type === 'thinking_delta' ? 'thinking' : 'text';
        this.#renderer.render({ kind, delta: row.text });
        this.#renderer.freshLine();
        return;
      }
      case 'tool_call':
        this.#renderer.render(toolCallEvent(row), nesting(row.parent_id));
        return;
      case 'tool_result': {
        const { id, value, error, abandoned, parent_id } = row;
        const render = typeof value === 'string' ? value : serdeJsonString(value);
        const result = { callId: id, ok: error === null, value, render, error, decision: null };
        const fate = abandoned === true ? { abandoned } : {};
        this.#renderer.render({ kind: 'tool_result', ...result, ...fate }, nesting(parent_id));
        return;
      }
      default:
        row satisfies never;
    }
  }

  /** No row is left: says when the last turn has no end. */
  end(): void {
    if (this.#openTurn === null) return;
    this.#renderer.notice(this.#style.yellow(`${this.#openTurn} has not ended`), 'end');
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

/** What stands before a call that another call made. */
const nesting = (parent: string | undefined): string => (parent === undefined ? '' : '  ');
