import {
  messageTexts,
  messageToolCalls,
  toolResultMessage,
  userMessage,
  type Message,
  type ModelRequest,
  type StreamEvent,
  type ToolCall,
} from '@celestea/core';
import { OfflineLlm } from '@celestea/offline';

const TOOLS: readonly string[] = ['list_dir', 'read_file', 'search_text', 'write_file'];

export function requestOf(messages: Message[], tools = TOOLS): ModelRequest {
  return {
    model: 'offline',
    system: 'You are celestea.',
    messages,
    tools: tools.map((name) => ({ name, description: name, parameters: { type: 'object' } })),
    max_tokens: null,
    temperature: null,
  };
}

export async function eventsOf(
  request: ModelRequest,
  llm = new OfflineLlm(),
  signal?: AbortSignal,
): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  const options = signal === undefined ? {} : { signal };
  for await (const event of await llm.generate(request, options)) events.push(event);
  return events;
}

export function doneOf(events: readonly StreamEvent[]): Message {
  for (const event of events) if (event.kind === 'done') return event.message;
  throw new Error('there is no done event');
}

export const joined = (events: readonly StreamEvent[], kind: 'text' | 'thinking'): string =>
  events.map((event) => (event.kind === kind ? event.text : '')).join('');

/** A call as `name {"argument":…}`. */
const shown = ({ name, args }: ToolCall): string => `${name} ${JSON.stringify(args)}`;

/** The calls of the first reply to a question. */
export async function callsOf(question: string, tools = TOOLS): Promise<string[]> {
  const message = doneOf(await eventsOf(requestOf([userMessage(question)], tools)));
  return messageToolCalls(message).map(shown);
}

/** The text of a tool's message. */
export type Answering = (call: ToolCall) => string;

export interface Talk {
  readonly calls: readonly string[];
  readonly answer: string;
  readonly messages: Message[];
}

/** Asks, answers the calls, and reads the answer: there is never a second step with calls. */
export async function talk(
  question: string,
  answering: Answering,
  { tools = TOOLS, before = [] as readonly Message[] } = {},
): Promise<Talk> {
  const messages = [...before, userMessage(question)];
  const calls: string[] = [];
  for (let step = 0; step < 2; step += 1) {
    const message = doneOf(await eventsOf(requestOf(messages, tools)));
    messages.push(message);
    const made = messageToolCalls(message);
    if (made.length === 0) return { calls, answer: messageTexts(message).join(''), messages };
    calls.push(...made.map(shown));
    messages.push(...made.map((call) => toolResultMessage(call.id, answering(call))));
  }
  throw new Error('it called tools in a second step');
}
