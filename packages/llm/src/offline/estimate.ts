import { messageTexts, messageToolCalls, serdeJsonString } from '@celestea/core';
import type { ModelRequest, Usage } from '@celestea/core';
import type { Reply } from './reply.ts';

const CHARS_PER_TOKEN = 4;

const tokens = (chars: number): number => Math.ceil(chars / CHARS_PER_TOKEN);

const total = (numbers: readonly number[]): number => numbers.reduce((sum, n) => sum + n, 0);

/**
 * What a request and its reply would roughly cost: four characters a token. An estimate, as
 * there is no tokenizer here; nothing is ever billed or cached.
 */
export function estimateUsage(request: ModelRequest, reply: Reply): Usage {
  const { system, messages, tools } = request;
  const said = messages.map((message) => {
    const calls = messageToolCalls(message).map(({ name, args }) => callChars(name, args));
    return total(messageTexts(message).map((text) => text.length)) + total(calls);
  });
  const offered = tools.map(
    (tool) => callChars(tool.name, tool.parameters) + tool.description.length,
  );
  const prompt = tokens((system ?? '').length + total(said) + total(offered));
  const reasoning = tokens(reply.thinking.length);
  const called = reply.calls.map(({ name, args }) => callChars(name, args));
  const completion = reasoning + tokens(reply.text.length + total(called));
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    cache_read: 0,
    reasoning_tokens: reasoning,
  };
}

function callChars(name: string, args: unknown): number {
  return name.length + serdeJsonString(args).length;
}
