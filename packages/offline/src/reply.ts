import { assistantText, messageImages, messageTexts, messageToolCalls } from '@celestea/core';
import { serdeJsonString, type Message, type ModelRequest, type Usage } from '@celestea/core';

import { readQuestion } from './question.ts';
import { showResult } from './show.ts';
import { inCode, oneLine } from './text.ts';
import { callKey, type Look, type Want } from './want.ts';

/** What the model says to one request. */
export interface Reply {
  readonly thinking: string;
  /** Either a text or calls. */
  readonly message: Message;
  readonly usage: Usage;
}

const WHAT_I_AM =
  "This is celestea's offline model: it follows simple rules and cannot reason like a language " +
  "model. The command celestea asks a real one when a provider's key is set, or with --base-url: " +
  'see celestea --help.';

/** Decides the reply to a request, from the request alone. */
export function decideReply(request: ModelRequest): Reply {
  const { messages, tools } = request;
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const question = messages.slice(asked, asked + 1).flatMap(messageTexts).join('\n');
  const answers = messages.slice(asked + 1);
  const offered = tools.map(({ name }) => name);
  const wants = readQuestion(question, offered);
  const isAnswered = answers.some((message) => messageToolCalls(message).length > 0);
  const looks = isAnswered ? [] : wants.filter((want) => want.kind === 'look');
  const calls = looks.filter(({ name }) => offered.includes(name));
  const opening = `The question is “${oneLine(question, 80)}”. My rules say to`;
  if (calls.length > 0) {
    const names = [...new Set(calls.map(({ name }) => name))].join(', ');
    return complete(request, `${opening} call ${names}.`, callMessage(calls, messages));
  }
  const results = resultsOf(answers);
  const sections = new Set(wants.map((want) => sectionOf(want, offered, results)));
  if (messages.slice(asked, asked + 1).some((message) => messageImages(message).length > 0)) {
    sections.add('I cannot look at pictures, so I left them aside.');
  }
  const text = [...sections, WHAT_I_AM].join('\n\n');
  return complete(request, `${opening} answer.`, assistantText(text));
}

function sectionOf(want: Want, offered: string[], results: ReadonlyMap<string, string>): string {
  if (want.kind === 'say') return want.text;
  const { name, args } = want;
  if (!offered.includes(name)) {
    const call = inCode(JSON.stringify(args));
    return `I cannot do that: ${inCode(name)} is not offered to me. It was to get ${call}.`;
  }
  return showResult(want, results.get(callKey(want)));
}

/** All calls of a reply stand in one message (C1.3), each once. */
function callMessage(looks: readonly Look[], messages: readonly Message[]): Message {
  const used = messages.flatMap(messageToolCalls).length;
  const calls = [...new Map(looks.map((look) => [callKey(look), look])).values()];
  return {
    role: 'assistant',
    content: calls.map(({ name, args }, index) => ({
      type: 'tool_call',
      content: { id: `offline-${String(used + index)}`, name, args },
    })),
    tool_call_id: null,
  };
}

/** The texts that calls were answered with, by the keys of the calls. */
function resultsOf(messages: readonly Message[]): Map<string, string> {
  const calls = new Map(messages.flatMap(messageToolCalls).map((call) => [call.id, callKey(call)]));
  return new Map(
    messages.map((message) => {
      const key = calls.get(message.tool_call_id ?? '') ?? '';
      return [key, messageTexts(message).join('\n')];
    }),
  );
}

/** Adds what the reply would roughly cost: four characters a token, as there is no tokenizer. */
function complete(request: ModelRequest, thinking: string, message: Message): Reply {
  const { system, messages, tools } = request;
  const tokens = (said: string): number => Math.ceil(said.length / 4);
  const prompt_tokens = tokens(serdeJsonString([system, messages, tools]));
  const reasoning_tokens = tokens(thinking);
  const completion_tokens = reasoning_tokens + tokens(serdeJsonString(message.content));
  const total_tokens = prompt_tokens + completion_tokens;
  const usage = { prompt_tokens, completion_tokens, total_tokens, cache_read: 0, reasoning_tokens };
  return { thinking, message, usage };
}
