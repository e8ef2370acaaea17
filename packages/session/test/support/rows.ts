import { serializeSessionEvent, type ImageRef, type SessionEvent } from '@celestea/core';

const PICTURE: ImageRef = {
  attachment_id: 'ab'.repeat(32),
  media_type: 'image/png',
  width: 4,
  height: 3,
};

/** Two whole turns with everything a row can carry, and characters of one to four bytes. */
export const RICH_ROWS: readonly SessionEvent[] = [
  { type: 'turn_start', id: 'turn-0' },
  { type: 'user_message', text: 'naïve — 漢字 😀\u2028\n"', attachments: [PICTURE] },
  { type: 'thinking_delta', text: 'hm… 🤔' },
  { type: 'thinking_delta', text: '', meta: { signature: 'c2ln' } },
  { type: 'assistant_message', text: 'Ich schaue nach: ß', calls_follow: true },
  { type: 'tool_call', id: 'a', name: 'read', args: { path: 'é', '': [1, null, { z: 0 }] } },
  { type: 'tool_call', id: 'b', name: 'read', args: null, meta: 'signed' },
  { type: 'tool_call', id: 'c', name: 'read', args: [] },
  { type: 'tool_call', id: 'nested', name: 'inner', args: {}, parent_id: 'a' },
  { type: 'tool_result', id: 'nested', value: 1, error: null, parent_id: 'a' },
  { type: 'tool_result', id: 'a', value: '💾'.repeat(9), error: null, surface: { kind: 'own' } },
  { type: 'tool_result', id: 'b', value: { deep: [[['ü']]] }, error: null },
  { type: 'tool_result', id: 'c', value: null, error: 'nö' },
  { type: 'assistant_message', text: 'Fertig. ✅' },
  { type: 'turn_end', id: 'turn-0', outcome: 'completed' },
  { type: 'turn_start', id: 'turn-1' },
  { type: 'user_message', text: '' },
  { type: 'tool_call', id: 'd', name: 'read', args: 1e21 },
  { type: 'tool_result', id: 'd', value: [], error: null },
  { type: 'tool_call', id: 'e', name: 'read', args: {} },
  { type: 'tool_result', id: 'e', value: '', error: null },
  { type: 'turn_end', id: 'turn-1', outcome: { error: { kind: 'stream', message: 'torn ✂' } } },
];

/** What a log's file holds after these rows. */
export const fileText = (rows: readonly SessionEvent[]): string =>
  rows.map((row) => `${serializeSessionEvent(row)}\n`).join('');

export const user = (text: string): SessionEvent => ({ type: 'user_message', text });
