import { isRecord } from '@celestea/core';

import { CallPieces } from './call-pieces.ts';
import type { Fetch } from './direct-fetch.ts';
import { rewriteFrames, type RewriteFrame } from './event-frames.ts';

/** A `fetch` whose streams of chat completions say what the adapter reads without a loss. */
export function chatFetch(fetch: Fetch): Fetch {
  return async (input, init) => {
    const answer = await fetch(input, init);
    if (init?.method !== 'POST' || !answer.ok || answer.body === null) return answer;
    return new Response(rewriteFrames(answer.body, chatRewriter()), answer);
  };
}

/**
 * What is to be done with the frames of one chat completions stream, one after the other.
 *
 * @throws LlmError (`stream`) when a frame makes no reply with those before it
 */
function chatRewriter(): RewriteFrame {
  const pieces = new CallPieces();
  return (frame) => {
    const choices = isRecord(frame) ? frame['choices'] : undefined;
    // the others are not read
    const [choice, ...others] = Array.isArray(choices) ? (choices as unknown[]) : [];
    if (!isRecord(frame) || !isRecord(choice)) return frame;
    const { delta, finish_reason } = choice;
    const hasCalls = isRecord(delta) && Array.isArray(delta['tool_calls']);
    const tool_calls = hasCalls ? pieces.rewrite(delta['tool_calls'] as unknown[]) : [];
    // at the length limit the last call's arguments are cut, and none is run (X8)
    if (typeof finish_reason === 'string' && finish_reason !== 'length') pieces.end();
    if (!hasCalls) return frame;
    return { ...frame, choices: [{ ...choice, delta: { ...delta, tool_calls } }, ...others] };
  };
}
