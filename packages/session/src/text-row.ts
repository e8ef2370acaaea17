import type { AssistantMessageRow, SessionEvent, ToolResultRow } from '@celestea/core';

/** A text this long may come to a line longer than any string can be. */
const MAX_LENGTH = 2 ** 20;

/**
 * A row that holds nothing but texts, copied: the same that its line gives when it is read back.
 * `null` for any other row, and for what is none; only its line can tell.
 */
export function textRow(event: SessionEvent): SessionEvent | null {
  switch (event.type) {
    case 'turn_start': {
      const { type, id } = event;
      return isText(id) ? { type, id } : null;
    }
    case 'user_message': {
      const { type, text, attachments } = event;
      return isText(text) && attachments === undefined ? { type, text } : null;
    }
    case 'assistant_message': {
      const { type, text, calls_follow } = event;
      if (!isText(text)) return null;
      const row: AssistantMessageRow = { type, text };
      if (calls_follow === true) row.calls_follow = true;
      return row;
    }
    case 'thinking_delta': {
      const { type, text, meta } = event;
      return isText(text) && meta === undefined ? { type, text } : null;
    }
    case 'tool_result': {
      const { type, id, value, error, parent_id, surface, abandoned } = event;
      if (!isText(id) || !isText(value) || !(error === null || isText(error))) return null;
      if (parent_id !== undefined || surface !== undefined) return null;
      const row: ToolResultRow = { type, id, value, error };
      if (abandoned === true) row.abandoned = true;
      return row;
    }
    default:
      return null;
  }
}

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_LENGTH;
