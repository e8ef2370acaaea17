import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { parseSessionEvent, serializeSessionEvent, type SessionEvent } from '@celestea/core';

/** What stands in the sessions of a root folder; none is as good as no folder. */
export function sessionNames(root: string): string[] {
  try {
    return readdirSync(join(root, '.celestea/sessions')).sort();
  } catch {
    return [];
  }
}

/** The one session of a root folder, and nothing may stand beside it. */
export function onlySession(root: string): string {
  const names = sessionNames(root);
  const [name = ''] = names;
  if (names.length !== 1) throw new Error(`expected one session, got ${names.join(', ')}`);
  return join(root, '.celestea/sessions', name);
}

/** Every row of a file that holds nothing else. */
export function rowsIn(path: string): SessionEvent[] {
  return readFileSync(path, 'utf8').trimEnd().split('\n').map((line) => {
    const parsed = parseSessionEvent(line);
    if (!parsed.ok) throw new Error(`${parsed.errors.join('; ')}: ${line}`);
    return parsed.event;
  });
}

/** Rows as the lines of a file. */
export const linesOf = (rows: readonly SessionEvent[]): string =>
  rows.map((row) => `${serializeSessionEvent(row)}\n`).join('');

export const hashOf = (path: string): string =>
  createHash('sha256').update(readFileSync(path)).digest('hex');

/** A turn with everything that one has. */
export const TURN: readonly SessionEvent[] = [
  { type: 'turn_start', id: 'turn-0' },
  { type: 'user_message', text: 'Is there tea?' },
  { type: 'thinking_delta', text: 'I look.' },
  { type: 'tool_call', id: 'a', name: 'list_dir', args: { path: '.' } },
  { type: 'tool_result', id: 'a', value: 'tea.md', error: null },
  { type: 'assistant_message', text: 'There is.' },
  { type: 'turn_end', id: 'turn-0', outcome: 'completed' },
];

/** A turn whose process died while a call ran. */
export const OPEN_TURN: readonly SessionEvent[] = [
  { type: 'turn_start', id: 'turn-1' },
  { type: 'user_message', text: 'And milk?' },
  { type: 'tool_call', id: 'b', name: 'list_dir', args: { path: '.' } },
];
