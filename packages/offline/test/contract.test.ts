import { messageToolCalls, userMessage, type ModelRequest } from '@celestea/core';
import {
  llmContract,
  type LlmContractReply,
  type LlmScenario,
  type LlmUnderTest,
} from '@celestea/core/contracts';
import { OfflineLlm } from '@celestea/offline';
import { assert, test } from 'vitest';

import { doneOf, eventsOf, joined, requestOf } from './support/conversation.ts';

const GREETING = requestOf([userMessage('hello')], []);
const TWO_CALLS = requestOf([
  userMessage('which files mention AbortSignal, and what does README.md say about cancelling?'),
]);

/** The longest that it can be told to wait: longer than any test. */
const FOR_EVER = 2 ** 31 - 1;

/** It answers by rules of its own, and the same request always in the same way. */
async function replyTo(request: ModelRequest): Promise<LlmContractReply> {
  const events = await eventsOf(request);
  const calls = messageToolCalls(doneOf(events));
  const [usage = null] = events.flatMap((event) => (event.kind === 'usage' ? [event.usage] : []));
  return {
    ends: 'done',
    thinking: { text: joined(events, 'thinking') },
    pieces: events.flatMap((event) => (event.kind === 'text' ? [event.text] : [])),
    calls,
    finish: calls.length === 0 ? 'stop' : 'tool_calls',
    usage,
  };
}

async function make(scenario: LlmScenario): Promise<LlmUnderTest> {
  const request = scenario === 'calls' ? TWO_CALLS : GREETING;
  const waits = scenario === 'stalled' || scenario === 'left';
  const llm = waits ? new OfflineLlm({ delayMs: FOR_EVER }) : new OfflineLlm();
  const reply = await replyTo(request);
  return { llm, request, replies: [reply, reply] };
}

llmContract(make, { test, assert }, ['words', 'calls', 'stalled', 'left', 'aborted']);
