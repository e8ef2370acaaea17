import {
  effectiveOutcome,
  outcomeError,
  outcomePhase,
  type SessionEvent,
} from '@celestea/core';

import type { WireMessage } from './wire.ts';

/** A page of a session, and where the next one begins. */
export interface MessagePage {
  readonly messages: readonly WireMessage[];
  /** The `after` of the next page; `null` when this is the last. */
  readonly next: number | null;
}

/** The rows behind the place `after`, at most `limit`, as a person reads them. */
export function messagePage(
  rows: readonly SessionEvent[],
  after: number,
  limit: number,
): MessagePage {
  const messages: WireMessage[] = [];
  let turn: string | null = null;
  for (const [at, row] of rows.entries()) {
    if (row.type === 'turn_start') turn = row.id;
    const message = at > after ? readRow(row, at, turn) : null;
    if (message !== null) {
      if (messages.length === limit) return { messages, next: messages.at(-1)?.at ?? null };
      messages.push(message);
    }
    if (row.type === 'turn_end') turn = null;
  }
  return { messages, next: null };
}

/** `null` for a row that says nothing by itself. What only a provider understands is left out. */
function readRow(row: SessionEvent, at: number, turn: string | null): WireMessage | null {
  switch (row.type) {
    case 'turn_start':
      return null;
    case 'user_message': {
      const pictures = row.attachments?.map((picture) => ({ ...picture })) ?? [];
      const attachments = pictures.length > 0 ? { attachments: pictures } : {};
      return { at, turn, kind: 'user', text: row.text, ...attachments };
    }
    case 'assistant_message':
      return { at, turn, kind: 'assistant', text: row.text };
    case 'thinking_delta':
      return { at, turn, kind: 'thinking', text: row.text };
    case 'tool_call': {
      const { id, name, args } = row;
      return { at, turn, kind: 'tool_call', id, name, args, ...parentOf(row) };
    }
    case 'tool_result': {
      const { id, value, error } = row;
      const abandoned = row.abandoned === true ? { abandoned: true } : {};
      const result = { id, ok: error === null, value, error, ...abandoned, ...parentOf(row) };
      return { at, turn, kind: 'tool_result', ...result };
    }
    case 'turn_end': {
      const outcome = effectiveOutcome(row.outcome);
      const end = { outcome: outcomePhase(outcome), error: outcomeError(outcome) };
      return { at, turn: row.id, kind: 'turn_end', ...end };
    }
    default:
      return row satisfies never;
  }
}

function parentOf({ parent_id }: { parent_id?: string }): { parent_id?: string } {
  return parent_id === undefined ? {} : { parent_id };
}
