import {
  ABANDONED_TOOL_CALL_TEXT,
  CANCELLED_TOOL_CALL_TEXT,
  type Content,
  type Message,
  type SessionEvent,
  type ToolSurface,
} from '@celestea/core';

/** Values with a surface, and what the model is to read of them (X12), written out by hand. */
export const surfaced: { value: unknown; surface: ToolSurface; text: string }[] = [
  {
    value: 'aé\u{1f600}z',
    surface: {
      kind: 'omitted',
      omitted_bytes: 4,
      total_bytes: 8,
      locator: 'f',
      retrieval_hint: 'Ask.',
      head_bytes: 3,
      tail_bytes: 1,
    },
    text: 'aé\n[4 of 8 bytes left out; the whole result is at f. Ask.]\nz',
  },
  { value: 'ab', surface: { kind: 'truncation', note: 'cut' }, text: '"ab"\ncut' },
  { value: [1], surface: { kind: 'truncation', note: 'cut' }, text: '[1]\ncut' },
  { value: 'ab', surface: { kind: 'omitted' }, text: '"ab"' },
  { value: 7, surface: { x: 1 }, text: '7' },
];

const has = (value: unknown): boolean => value !== undefined && value !== null;

/** C4.5, X9, X10, X12 and X17 as they are written: every message looks back for its parts. */
export function project(log: readonly SessionEvent[]): Message[] {
  const rows = log.filter((row) => {
    if (row.type === 'thinking_delta') return has(row.meta);
    return !(row.type === 'tool_call' || row.type === 'tool_result') || !has(row.parent_id);
  });
  return rows.flatMap((row, at): Message[] => {
    switch (row.type) {
      case 'user_message':
        return [message('user', [{ type: 'text', content: row.text }])];
      case 'tool_result':
        return [{ ...message('tool', [textOf(row)]), tool_call_id: row.id }];
      case 'assistant_message': {
        if (row.text.trim() === '' && row.calls_follow !== true) return [];
        const words: Content[] = row.text.trim() === '' ? [] : [{ type: 'text', content: row.text }];
        const rest = [...words, ...callsOf(rows, at)];
        if (rest.length === 0) return [];
        return [message('assistant', [...signedBefore(rows, at), ...rest])];
      }
      case 'tool_call': {
        if (ownerOf(rows, at) !== at) return [];
        return [message('assistant', [...signedBefore(rows, at), ...callsOf(rows, at)])];
      }
      default:
        return [];
    }
  });
}

const message = (role: Message['role'], content: Content[]): Message => ({
  role,
  content,
  tool_call_id: null,
});

/** The row whose message a call stands in: its own, an earlier call's, or that of the words. */
function ownerOf(rows: readonly SessionEvent[], at: number): number {
  let before = at - 1;
  while (rows[before]?.type === 'turn_start' || rows[before]?.type === 'turn_end') before -= 1;
  const row = rows[before];
  if (row?.type === 'tool_call') return ownerOf(rows, before);
  const joins = row?.type === 'assistant_message' && row.calls_follow && before === at - 1;
  return joins === true ? before : at;
}

function callsOf(rows: readonly SessionEvent[], owner: number): Content[] {
  return rows.flatMap((row, at): Content[] => {
    if (row.type !== 'tool_call' || ownerOf(rows, at) !== owner) return [];
    const { id, name, args, meta } = row;
    return [{ type: 'tool_call', content: { id, name, args, ...(has(meta) ? { meta } : {}) } }];
  });
}

/** The signed reasoning that stands right before a row. */
function signedBefore(rows: readonly SessionEvent[], at: number): Content[] {
  const row = rows[at - 1];
  if (row?.type !== 'thinking_delta') return [];
  const content = { text: row.text, meta: row.meta };
  return [...signedBefore(rows, at - 1), { type: 'thinking', content }];
}

function textOf(row: Extract<SessionEvent, { type: 'tool_result' }>): Content {
  const seen = surfaced.find(({ surface }) => surface === row.surface);
  const value = seen?.text ?? JSON.stringify(row.value);
  const content = row.error ? `Error: ${row.error}` : value;
  return { type: 'text', content: row.abandoned ? ABANDONED_TOOL_CALL_TEXT : content };
}

export const idsOf = (of: Message): string[] =>
  of.content.flatMap((block) => (block.type === 'tool_call' ? [block.content.id] : []));

/** C4.6 as it is written: for every call, the answers that are its own. */
export function balance(messages: Message[]): Message[] {
  const answersOf = new Map<Message, Message[]>();
  messages.forEach((answer, at) => {
    if (answer.role !== 'tool') return;
    const owner = messages
      .slice(0, at)
      .findLast((other) => idsOf(other).includes(answer.tool_call_id ?? ''));
    if (owner !== undefined) answersOf.set(owner, [...(answersOf.get(owner) ?? []), answer]);
  });
  return messages
    .filter(({ role }) => role !== 'tool')
    .flatMap((asking) => {
      const answers = [...(answersOf.get(asking) ?? [])];
      const seats = idsOf(asking).map((id): Message => {
        const at = answers.findIndex((answer) => answer.tool_call_id === id);
        const [answer] = at < 0 ? [] : answers.splice(at, 1);
        if (answer !== undefined) return answer;
        const content = CANCELLED_TOOL_CALL_TEXT;
        return { role: 'tool', content: [{ type: 'text', content }], tool_call_id: id };
      });
      return [asking, ...seats];
    });
}
