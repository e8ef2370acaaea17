import {
  messageToolCalls,
  userMessage,
  type Llm,
  type ModelRequest,
  type StreamEvent,
} from '@celestea/core';

import { PROMPT } from './provider-streams/good-stream.ts';

/** What came of one request: the events, and what it failed with, if it did. */
export interface Reading {
  readonly events: readonly StreamEvent[];
  readonly error: unknown;
}

export const REQUEST: ModelRequest = {
  model: 'test-model',
  system: 'Be brief.',
  messages: [userMessage(PROMPT)],
  tools: [{ name: 'search', description: 'Searches.', parameters: { type: 'object' } }],
  max_tokens: 500,
  temperature: null,
};

/** Reads a reply to its end, whichever that is. */
export async function read(
  llm: Llm,
  signal?: AbortSignal,
  onEvent: (event: StreamEvent) => void = () => undefined,
): Promise<Reading> {
  const events: StreamEvent[] = [];
  try {
    const stream = await llm.generate(REQUEST, signal === undefined ? {} : { signal });
    for await (const event of stream) {
      events.push(event);
      onEvent(event);
    }
    return { events, error: null };
  } catch (error) {
    return { events, error };
  }
}

/** The events with neighbouring deltas made one. */
export function joinDeltas(events: readonly StreamEvent[]): StreamEvent[] {
  const joined: StreamEvent[] = [];
  for (const event of events) {
    const last = joined.at(-1);
    if (event.kind === 'text' && last?.kind === 'text') {
      joined.splice(-1, 1, { kind: 'text', text: last.text + event.text });
    } else if (isPlainThinking(event) && isPlainThinking(last)) {
      joined.splice(-1, 1, { kind: 'thinking', text: last.text + event.text });
    } else {
      joined.push(event);
    }
  }
  return joined;
}

const isPlainThinking = (
  event: StreamEvent | undefined,
): event is Extract<StreamEvent, { kind: 'thinking' }> =>
  event?.kind === 'thinking' && event.meta === undefined;

/** The events with `made-1`, `made-2`… in place of the ids that are not among the `sent`. */
export function nameMadeIds(
  events: readonly StreamEvent[],
  sent: ReadonlySet<string>,
): StreamEvent[] {
  const made = new Map<string, string>();
  const nameOf = (id: string): string => {
    if (sent.has(id)) return id;
    const name = made.get(id) ?? `made-${String(made.size + 1)}`;
    made.set(id, name);
    return name;
  };
  return events.map((event) => {
    if (event.kind !== 'done') return event;
    const content = event.message.content.map((block) =>
      block.type === 'tool_call'
        ? { ...block, content: { ...block.content, id: nameOf(block.content.id) } }
        : block,
    );
    return { ...event, message: { ...event.message, content } };
  });
}

/** The ids in the calls of these events, but those that stand for made ones. */
export function sentIds(events: readonly StreamEvent[]): Set<string> {
  const messages = events.flatMap((event) => (event.kind === 'done' ? [event.message] : []));
  const ids = messages.flatMap(messageToolCalls).map(({ id }) => id);
  return new Set(ids.filter((id) => !id.startsWith('made-')));
}
