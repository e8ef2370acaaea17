import {
  messageText,
  messageToolCalls,
  toolResultMessage,
  userMessage,
  type Llm,
  type Message,
  type ModelRequest,
  type StreamEvent,
  type ToolCall,
  type ToolSpec,
} from '@celestea/core';
import { OfflineLlm } from '@celestea/llm';

export const spec = (name: string): ToolSpec => ({
  name,
  description: `What ${name} does.`,
  parameters: { type: 'object' },
});

const FILE_TOOLS: ToolSpec[] = ['list_dir', 'read_file', 'search_text'].map(spec);

export function requestOf(messages: Message[], tools: ToolSpec[] = FILE_TOOLS): ModelRequest {
  return {
    model: 'offline',
    system: 'You are celestea.',
    messages,
    tools,
    max_tokens: null,
    temperature: null,
  };
}

export async function eventsOf(
  request: ModelRequest,
  llm: Llm = new OfflineLlm(),
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

export function joined(events: readonly StreamEvent[], kind: 'text' | 'thinking'): string {
  return events.map((event) => (event.kind === kind ? event.text : '')).join('');
}

/** The calls as `[name, args]`, which is what the planning rules decide. */
export const wanted = (calls: readonly ToolCall[]): [string, unknown][] =>
  calls.map((call) => [call.name, call.args]);

/** What the model wants for a first question. */
export async function firstCalls(
  question: string,
  tools: ToolSpec[] = FILE_TOOLS,
): Promise<[string, unknown][]> {
  const events = await eventsOf(requestOf([userMessage(question)], tools));
  return wanted(messageToolCalls(doneOf(events)));
}

/** Answers one call with a value, or throws for an `Error: …` result. */
export type Answering = (name: string, args: unknown) => unknown;

export interface Conversation {
  /** The calls of each step. */
  steps: [string, unknown][][];
  messages: Message[];
  answer: string;
}

/** Runs the model against a tool double until it answers; at most ten steps. */
export async function converse(
  messages: Message[],
  answering: Answering,
  tools: ToolSpec[] = FILE_TOOLS,
): Promise<Conversation> {
  const all = [...messages];
  const steps: [string, unknown][][] = [];
  for (let step = 0; step < 10; step += 1) {
    const message = doneOf(await eventsOf(requestOf(all, tools)));
    all.push(message);
    const calls = messageToolCalls(message);
    if (calls.length === 0) return { steps, messages: all, answer: messageText(message) ?? '' };
    steps.push(wanted(calls));
    for (const call of calls) all.push(toolResultMessage(call.id, resultText(answering, call)));
  }
  throw new Error('the model never answered');
}

function resultText(answering: Answering, { name, args }: ToolCall): string {
  try {
    return JSON.stringify(answering(name, args));
  } catch (error) {
    return `Error: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function field(args: unknown, name: string): unknown {
  const fields = typeof args === 'object' && args !== null ? Object.entries(args) : [];
  return new Map<string, unknown>(fields).get(name);
}

function textField(args: unknown, name: string): string | undefined {
  const value = field(args, name);
  return typeof value === 'string' ? value : undefined;
}

/** A folder in memory behind the three file tools; `pageLines` is what one read gives. */
export function folderOf(files: Record<string, string>, pageLines = 400): Answering {
  const paths = Object.keys(files).sort();
  const list = (folder: string): unknown => {
    const prefix = folder === '.' ? '' : `${folder}/`;
    const below = paths.filter((path) => path.startsWith(prefix));
    if (below.length === 0) throw new Error(`path: "${folder}" does not exist`);
    const names = new Set(below.map((path) => path.slice(prefix.length).split('/')[0] ?? ''));
    const entries = [...names].map((name) => {
      return { name, kind: files[`${prefix}${name}`] === undefined ? 'folder' : 'file' };
    });
    return { path: folder, entries, truncated: false };
  };
  const read = (path: string, offset: number, limit: number): unknown => {
    const text = files[path];
    if (text === undefined) throw new Error(`path: "${path}" does not exist`);
    const lines = text.split('\n');
    const part = lines.slice(offset - 1, offset - 1 + limit);
    const last = offset + part.length - 1;
    const truncated = last < lines.length;
    const total = lines.length;
    const body = part.join('\n');
    return { path, text: body, first_line: offset, last_line: last, total_lines: total, truncated };
  };
  const search = (query: string, path: string, ignoreCase: boolean): unknown => {
    const fold = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
    const scope = paths.filter((one) => path === '.' || one === path || one.startsWith(`${path}/`));
    const matches = scope.flatMap((one) =>
      (files[one] ?? '')
        .split('\n')
        .map((text, index) => ({ path: one, line: index + 1, text }))
        .filter(({ text }) => fold(text).includes(fold(query))),
    );
    return { query, matches, truncated: false };
  };
  return (name, args) => {
    const path = textField(args, 'path') ?? '.';
    const number = (key: string, fallback: number): number => Number(field(args, key) ?? fallback);
    switch (name) {
      case 'list_dir':
        return list(path);
      case 'read_file':
        return read(path, number('offset', 1), Math.min(pageLines, number('limit', pageLines)));
      case 'search_text':
        return search(textField(args, 'query') ?? '', path, field(args, 'ignore_case') === true);
      default:
        throw new Error(`unknown tool ${name}`);
    }
  };
}
