import type { ModelRequest } from '@celestea/core';
import { writeAnswer } from './answer.ts';
import { callId, readConversation, type Conversation } from './conversation.ts';
import type { PlannedCall } from './evidence.ts';
import type { Question } from './intent.ts';
import { knownTools, planNext } from './plan.ts';
import { parseQuestion } from './question.ts';
import { count, oneLine } from './text.ts';

/** One call of a reply, with its id. */
export interface ReplyCall extends PlannedCall {
  readonly id: string;
}

/** What the model says to one request: its reasoning, then either calls or a text. */
export interface Reply {
  readonly thinking: string;
  /** Empty when there is a text. */
  readonly calls: readonly ReplyCall[];
  /** Empty when there are calls. */
  readonly text: string;
}

/** Decides the reply to a request, from the request alone. */
export function decideReply({ messages, tools }: ModelRequest): Reply {
  const conversation = readConversation(messages);
  const question = parseQuestion(conversation.question);
  const offered = knownTools(tools);
  const plan = planNext(question, conversation, offered);
  if (plan.calls.length > 0) {
    const together = plan.calls.length > 1 ? ' These calls can run at the same time.' : '';
    const calls = plan.calls.map((call, index) => {
      return { ...call, id: callId(conversation.nextCall + index) };
    });
    const thinking = `${opening(question, conversation)} ${plan.why.join(' ')}${together}`;
    return { thinking, calls, text: '' };
  }
  const { evidence, hasImages } = conversation;
  const { outOfSteps } = plan;
  const text = writeAnswer({ question, evidence, offered, tools, hasImages, outOfSteps });
  const reason = outOfSteps
    ? 'There is more to look up, but this question has had its steps. I answer with what I have.'
    : whyAnswer(question, conversation);
  return { thinking: `${opening(question, conversation)} ${reason}`, calls: [], text };
}

function opening({ parts }: Question, { evidence, steps }: Conversation): string {
  if (steps > 0) return `I have read ${count(evidence.size, 'result')} of my tools.`;
  const quoted = parts.map((part) => `“${oneLine(part.text, 80)}”`);
  const [first] = quoted;
  if (first === undefined || first === '“”') return 'There is no question in words.';
  if (parts.length === 1) return `The question is ${first}.`;
  return `The question has ${count(parts.length, 'part')}: ${[...new Set(quoted)].join(', ')}.`;
}

function whyAnswer({ parts }: Question, { evidence }: Conversation): string {
  if (evidence.size > 0) return 'My rules ask for nothing more, so I write the answer.';
  const talk = parts.every(({ intent }) => /^(greeting|capabilities|beyond|described)$/.test(intent.kind));
  return talk
    ? 'That needs no tool; I answer directly.'
    : 'None of the offered tools helps me with it, so I say so.';
}
