import { done, type Script } from '@celestea/agent-loop/testing';
import { zeroUsage, type ToolCall } from '@celestea/core';

export function call(id: string, name: string, args: unknown = {}): ToolCall {
  return { id, name, args };
}

/** A piece of a reply. */
export const piece = (text: string): Script[number] => ({ kind: 'text', text });

/** What a provider says that a reply cost. */
export const cost = (prompt: number, completion: number): Script[number] => ({
  kind: 'usage',
  usage: {
    ...zeroUsage(),
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  },
});

/** A reply in pieces, with something done between them. */
export function inPieces(...items: Script): Script {
  const text = items.map((item) => ('kind' in item && item.kind === 'text' ? item.text : ''));
  return [...items, done(text.join(''))];
}
