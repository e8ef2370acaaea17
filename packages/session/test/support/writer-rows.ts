import { formatTurnId, type SessionEvent } from '@celestea/core';

/** A small generator of numbers in 0..1 (mulberry32), so that a run can be had again. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Endless turns, the same for a seed and a first turn number: what a process that dies writes. */
export function* writerRows(seed: number, firstTurn: number): Generator<SessionEvent> {
  const random = seededRandom(seed);
  const some = (most: number): number => Math.floor(random() * (most + 1));
  const words = (most: number): string => '漢字😀 word '.repeat(some(most));
  for (let turn = firstTurn; ; turn += 1) {
    const id = formatTurnId(turn);
    yield { type: 'turn_start', id };
    yield { type: 'user_message', text: words(9) };
    for (let step = some(3); step > 0; step -= 1) {
      yield { type: 'thinking_delta', text: `${words(40)}.` };
      const call = (n: number): string => `${id}-${String(step)}-${String(n)}`;
      const ids = Array.from({ length: 1 + some(2) }, (_, n) => call(n));
      for (const id of ids) yield { type: 'tool_call', id, name: 'read', args: some(9) };
      for (const id of ids) {
        const value = words(random() < 0.1 ? 20_000 : 60);
        yield { type: 'tool_result', id, value, error: null };
      }
    }
    yield { type: 'assistant_message', text: words(30) };
    yield { type: 'turn_end', id, outcome: 'completed' };
  }
}

export function firstRows(seed: number, firstTurn: number, count: number): SessionEvent[] {
  const rows: SessionEvent[] = [];
  for (const row of writerRows(seed, firstTurn)) {
    if (rows.length === count) break;
    rows.push(row);
  }
  return rows;
}
