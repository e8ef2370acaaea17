import { streamAnswer } from './stream-answer.ts';

/** How requests are made. */
export type Fetch = typeof globalThis.fetch;

/**
 * A `fetch` that follows no redirect: keys that stand in headers of their own would go along,
 * to whatever server it names. A redirect is an answer like any other that is no success.
 *
 * What is posted asks a model for a stream: its answer is bounded, and one that is no stream
 * is an `AnswerError`. Other answers are given as they come.
 *
 * @param fetch in place of the global one
 */
export function directFetch(fetch?: Fetch): Fetch {
  return async (input, init) => {
    const answer = await (fetch ?? globalThis.fetch)(input, { ...init, redirect: 'manual' });
    return init?.method === 'POST' ? streamAnswer(answer) : answer;
  };
}
