/**
 * A long conversation in neutral form: rounds of a question, four calls with their results, and
 * an answer, ten messages in all; some two hundred bytes a message.
 */
export type Entry =
  | { kind: 'user' | 'assistant'; text: string }
  | { kind: 'call'; id: string; name: string; args: { path: string } }
  | { kind: 'result'; id: string; name: string; text: string };

const FILLER = 'the quick brown fox jumps over the lazy dog; '.repeat(5);
const NAME = 'read_file';

/** Entries of as many messages; one entry is one message. */
export function history(messages: number, from = 0): Entry[] {
  return Array.from({ length: messages }, (_, index) => entryAt(from + index));
}

function entryAt(index: number): Entry {
  const text = `${String(index)} ${FILLER.slice(0, 80 + ((index * 37) % 140))}`;
  const place = index % 10;
  if (place === 0) return { kind: 'user', text };
  if (place === 9) return { kind: 'assistant', text };
  return place % 2 === 1
    ? { kind: 'call', id: `call_${String(index)}`, name: NAME, args: { path: text } }
    : { kind: 'result', id: `call_${String(index - 1)}`, name: NAME, text };
}

/** Tokens to trim to: about half of the conversation stays. */
export const budgetOf = (messages: number): number => messages * 28;
