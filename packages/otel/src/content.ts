import { utf8Length, type Content, type FinishReason, type Message } from '@celestea/core';

import { boundedJson, cutNotice } from './content-text.ts';
import { quietly } from './quietly.ts';

/** A message in the shape of the conventions' JSON schemas. */
interface ContentMessage {
  readonly role: string;
  readonly parts: readonly unknown[];
  readonly finish_reason?: string;
}

const textPart = (content: string): unknown => ({ type: 'text', content });

/** `gen_ai.system_instructions`. */
export function systemInstructions(system: string, maxBytes: number): string {
  return boundedJson([textPart(system)], maxBytes);
}

/**
 * `gen_ai.input.messages`: the newest messages, as many as there is room for, and a notice in
 * front where older ones were left out. None takes more than half of the room.
 */
export function inputMessages(messages: readonly Message[], maxBytes: number): string {
  const kept: string[] = [];
  let left = maxBytes - utf8Length(messageNotice(messages.length)) - '[]'.length;
  for (const message of [...messages].reverse()) {
    const text = messageJson(message, Math.floor(maxBytes / 2));
    left -= utf8Length(text) + ','.length;
    if (left < 0) break;
    kept.unshift(text);
  }
  const cut = messages.length - kept.length;
  if (cut > 0) kept.unshift(messageNotice(cut));
  return `[${kept.join(',')}]`;
}

/** `gen_ai.output.messages` of a finished reply. */
export function outputMessages(
  message: Message,
  finish: FinishReason | undefined,
  maxBytes: number,
): string {
  const { role, parts } = shown(message);
  const calls = message.content.some(({ type }) => type === 'tool_call');
  const usual: FinishReason = calls ? 'tool_calls' : 'stop';
  const reason = finish ?? usual;
  // the schema has the singular
  const finish_reason = reason === 'tool_calls' ? 'tool_call' : reason;
  return boundedJson([{ role, parts, finish_reason }], maxBytes);
}

/** `gen_ai.tool.call.arguments`; a text that is JSON is recorded as what it says. */
export function toolArguments(args: unknown, maxBytes: number): string {
  const isText = typeof args === 'string';
  const parsed: unknown = isText ? quietly((): unknown => JSON.parse(args)) : undefined;
  return boundedJson(parsed ?? args, maxBytes);
}

function messageNotice(count: number): string {
  return JSON.stringify({ role: 'system', parts: [textPart(cutNotice(count, 'messages'))] });
}

/** A message that cannot be made to fit keeps its place. */
function messageJson(message: Message, maxBytes: number): string {
  const text = boundedJson(shown(message), maxBytes);
  return text.startsWith('{') ? text : messageNotice(1);
}

function shown({ role, content, tool_call_id }: Message): ContentMessage {
  if (role !== 'tool') return { role, parts: content.map(part) };
  const texts = content.filter((block) => block.type === 'text').map((block) => block.content);
  const answer = { type: 'tool_call_response', id: tool_call_id, response: texts.join('') };
  return { role, parts: [answer, ...content.filter(({ type }) => type !== 'text').map(part)] };
}

function part(block: Content): unknown {
  switch (block.type) {
    case 'text':
      return textPart(block.content);
    case 'thinking':
      return { type: 'reasoning', content: block.content.text };
    case 'tool_call': {
      const { id, name, args } = block.content;
      return { type: 'tool_call', id, name, arguments: args };
    }
    case 'image': {
      const { attachment_id, media_type } = block.content;
      return { type: 'file', modality: 'image', mime_type: media_type, file_id: attachment_id };
    }
    default:
      return block satisfies never;
  }
}
