import { messageToolCalls, userMessage, type ModelRequest, type StreamEvent } from '@celestea/core';
import {
  llmContract,
  type LlmContractReply,
  type LlmScenario,
  type LlmUnderTest,
} from '@celestea/core/contracts';
import { OfflineLlm } from '@celestea/llm';
import { assert, test } from 'vitest';

import { doneOf, eventsOf, requestOf } from './support/conversation.ts';

const GREETING = requestOf([userMessage('hello')]);
const TWO_CALLS = requestOf([
  userMessage('which files mention AbortSignal, and what does README.md say about cancelling?'),
]);

/** The longest that it can be told to wait: longer than any test. */
const FOR_EVER = 2 ** 31 - 1;

/** It answers by rules of its own, and the same request always in the same way. */
async function replyTo(request: ModelRequest): Promise<LlmContractReply> {
  const events = await eventsOf(request);
  const texts = (kind: 'text' | 'thinking'): string[] =>
    events.flatMap((event) => (event.kind === kind ? [event.text] : []));
  const calls = messageToolCalls(doneOf(events));
  return {
    ends: 'done',
    thinking: { text: texts('thinking').join('') },
    pieces: texts('text'),
    calls,
    finish: calls.length === 0 ? 'stop' : 'tool_calls',
    usage: events.find(isUsage)?.usage ?? null,
  };
}

const isUsage = (event: StreamEvent): event is Extract<StreamEvent, { kind: 'usage' }> =>
  event.kind === 'usage';

async function make(scenario: LlmScenario): Promise<LlmUnderTest> {
  const request = scenario === 'calls' ? TWO_CALLS : GREETING;
  const waits = scenario === 'stalled' || scenario === 'left';
  const llm = waits ? new OfflineLlm({ delayMs: FOR_EVER }) : new OfflineLlm();
  const reply = await replyTo(request);
  return { llm, request, replies: [reply, reply] };
}

llmContract(make, { test, assert }, ['words', 'calls', 'stalled', 'left', 'aborted']);
