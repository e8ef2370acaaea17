import {
  describeValue,
  FINISH_REASONS,
  isRecord,
  STREAM_EVENT_KINDS,
  zeroUsage,
  type FinishReason,
  type ModelFailureKind,
  type ToolCall,
  type Usage,
} from '@celestea/core';

import { errorMessage } from './cancel.ts';
import { failureText } from './failure-text.ts';

/** An event of a model's stream, read once and checked: what comes after it can be believed. */
export type ReadEvent =
  | { kind: 'text'; text: string }
  | { kind: 'thinking'; text: string; meta: unknown }
  | { kind: 'usage'; usage: Usage }
  | { kind: 'done'; text: string; calls: ToolCall[]; finish: FinishReason | undefined }
  | { kind: 'failed'; kindOf: ModelFailureKind; message: string }
  | { kind: 'interrupted' }
  /** The event is none; `message` says what was expected and what came (L2.6). */
  | { kind: 'malformed'; message: string };

/** Reads an event. Whatever a getter of it does happens here, once. */
export function readEvent(value: unknown): ReadEvent {
  try {
    if (!isRecord(value)) return malformed('stream event', 'an object', value);
    return readKind(value);
  } catch (error) {
    return { kind: 'malformed', message: `malformed stream event: ${errorMessage(error)}` };
  }
}

function readKind(event: Record<string, unknown>): ReadEvent {
  const { kind } = event;
  switch (kind) {
    case 'text': {
      const { text } = event;
      return isText(text) ? { kind, text } : malformed('text event: text', 'a string', text);
    }
    case 'thinking': {
      const { text, meta } = event;
      return isText(text)
        ? { kind, text, meta }
        : malformed('thinking event: text', 'a string', text);
    }
    case 'usage': {
      const usage = readUsage(event['usage']);
      return usage === null
        ? malformed('usage event: usage', 'five counters', event['usage'])
        : { kind, usage };
    }
    case 'done':
      return readDone(event['message'], event['finish']);
    case 'failed': {
      const { kindOf, message } = event;
      if (!isText(message)) return malformed('failed event: message', 'a string', message);
      return kindOf === 'generate' || kindOf === 'stream'
        ? { kind, kindOf, message: failureText(message) }
        : malformed('failed event: kindOf', 'generate or stream', kindOf);
    }
    case 'interrupted':
      return { kind };
    default:
      return malformed('stream event: kind', STREAM_EVENT_KINDS.join(', '), kind);
  }
}

function readUsage(value: unknown): Usage | null {
  if (!isRecord(value)) return null;
  const usage = zeroUsage();
  for (const counter of Object.keys(usage) as (keyof Usage)[]) {
    const count = value[counter];
    if (typeof count !== 'number') return null;
    usage[counter] = count;
  }
  return usage;
}

/** Texts joined and calls in order; other blocks say nothing that a reply could use. */
function readDone(message: unknown, finish: unknown): ReadEvent {
  const content = isRecord(message) ? message['content'] : undefined;
  if (!Array.isArray(content)) {
    return malformed('done event: message', 'an assistant message', message);
  }
  let text = '';
  const calls: ToolCall[] = [];
  for (const [index, block] of content.entries()) {
    const { type, content: inner }: Record<string, unknown> = isRecord(block) ? block : {};
    if (type === 'text' && isText(inner)) text += inner;
    else if (type === 'tool_call' && isRecord(inner) && isText(inner['name'])) {
      calls.push(readCall(inner, inner['name']));
    } else if (type !== 'image' && type !== 'thinking') {
      return malformed(`done event: message.content[${String(index)}]`, 'a block', block);
    }
  }
  return { kind: 'done', text, calls, finish: readFinish(finish) };
}

/** Ids are given later (X11). Arguments left out are `null`, so that an event always has them. */
function readCall({ id, args, meta }: Record<string, unknown>, name: string): ToolCall {
  const call: ToolCall = {
    id: id as string,
    name: name.toWellFormed() || UNNAMED,
    args: args ?? null,
  };
  if (meta !== undefined && meta !== null) call.meta = meta;
  return call;
}

/** A call without a name: no tool has this one, and providers refuse the empty one. */
const UNNAMED = 'unnamed_tool';

/** A reason of a newer provider is none that we know. */
function readFinish(finish: unknown): FinishReason | undefined {
  if (finish === undefined || finish === null) return undefined;
  return FINISH_REASONS.find((known) => known === finish) ?? 'other';
}

const isText = (value: unknown): value is string => typeof value === 'string';

const malformed = (what: string, expected: string, came: unknown): ReadEvent => ({
  kind: 'malformed',
  message: `malformed ${what}: expected ${expected}, got ${describeValue(came)}`,
});
