import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { SessionEvent } from '@celestea/core';

/** Bytes of a line, its newline included. */
export const LINE_BYTES = 500;

/** A row whose line is {@link LINE_BYTES} long. */
export function longRow(): SessionEvent {
  const row = { type: 'user_message' as const, text: '' };
  return { ...row, text: 'x'.repeat(LINE_BYTES - 1 - JSON.stringify(row).length) };
}

/** Rows of ordinary turns: a question, a call with its result, an answer. */
export function ordinaryRows(count: number): SessionEvent[] {
  return Array.from({ length: count }, (_, index) => rowAt(index));
}

const PASSAGE = 'It was a dark and stormy night. '.repeat(8);

function rowAt(index: number): SessionEvent {
  const turn = Math.floor(index / 6);
  const id = `call_${String(turn)}`;
  switch (index % 6) {
    case 0:
      return { type: 'turn_start', id: `turn-${String(turn)}` };
    case 1:
      return { type: 'user_message', text: 'What does the second chapter say about the sea?' };
    case 2:
      return { type: 'tool_call', id, name: 'read_file', args: { path: 'book/chapter-2.md' } };
    case 3:
      return { type: 'tool_result', id, value: PASSAGE, error: null };
    case 4:
      return { type: 'assistant_message', text: 'It says that the night was dark and stormy.' };
    default:
      return { type: 'turn_end', id: `turn-${String(turn)}`, outcome: 'completed' };
  }
}

/** Runs `use` with a folder of its own, which is removed afterwards. */
export async function withFolder<T>(use: (file: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'celestea-bench-'));
  try {
    return await use(join(folder, 'log.jsonl'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
