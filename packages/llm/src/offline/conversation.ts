import {
  hasToolCalls,
  messageImages,
  messageTexts,
  messageToolCalls,
  type Message,
  type ToolCall,
} from '@celestea/core';
import { Evidence } from './evidence.ts';

/** What a conversation means to the rules. */
export interface Conversation {
  /** The last user message; empty when there is none. */
  readonly question: string;
  /** Whether pictures came with it. */
  readonly hasImages: boolean;
  /**
   * What tools answered since the last final answer; of writes, only those since the last user
   * message, as one that was asked for before is not the one that is asked for.
   */
  readonly evidence: Evidence;
  /** Steps with tool calls since the last user message. */
  readonly steps: number;
  /** The number of the next call id, above every one that is in use. */
  readonly nextCall: number;
}

const CALL_ID = /^offline-(\d{1,15})$/;

/** The id of the call with this number. */
export function callId(number: number): string {
  return `offline-${String(number)}`;
}

/**
 * Reads the messages of a request. The last user message is the question, so a steering
 * message that arrives while tools run takes over; what the tools had answered by then is
 * kept.
 */
export function readConversation(messages: readonly Message[]): Conversation {
  const asked = messages.findLastIndex((message) => message.role === 'user');
  const question = messages[asked];
  const since = messages.slice(asked + 1);
  return {
    question: question === undefined ? '' : messageTexts(question).join('\n'),
    hasImages: question !== undefined && messageImages(question).length > 0,
    evidence: readEvidence(messages, startOfTurn(messages, asked), asked),
    steps: since.filter((message) => message.role === 'assistant' && hasToolCalls(message)).length,
    nextCall: nextCallNumber(messages),
  };
}

/** The index after the last final answer: an assistant text that leads to no call. */
function startOfTurn(messages: readonly Message[], asked: number): number {
  for (let index = asked; index >= 0; index -= 1) {
    const message = messages[index];
    const next = messages[index + 1];
    if (message?.role !== 'assistant' || hasToolCalls(message)) continue;
    if (next?.role !== 'assistant') return index + 1;
  }
  return 0;
}

function readEvidence(messages: readonly Message[], start: number, asked: number): Evidence {
  const calls = new Map<string, ToolCall>();
  const evidence = new Evidence();
  for (const [index, message] of messages.entries()) {
    if (index < start) continue;
    for (const call of messageToolCalls(message)) {
      if (call.name !== 'write_file' || index > asked) calls.set(call.id, call);
      else calls.delete(call.id);
    }
    const call = message.tool_call_id === null ? undefined : calls.get(message.tool_call_id);
    if (message.role === 'tool' && call !== undefined) {
      evidence.add(call.name, call.args, messageTexts(message).join('\n'));
    }
  }
  return evidence;
}

function nextCallNumber(messages: readonly Message[]): number {
  let count = 0;
  let highest = -1;
  for (const message of messages) {
    for (const { id } of messageToolCalls(message)) {
      count += 1;
      const number = CALL_ID.exec(id)?.[1];
      if (number !== undefined) highest = Math.max(highest, Number(number));
    }
  }
  return Math.max(count, highest + 1);
}
