import type { FinishReason, ToolCall, Usage } from '@celestea/core';

import { signatureOf } from '../signatures.ts';
import type { ContractWire } from './contract-wire.ts';
import { called, finished, GEMINI, reasoned, said } from './gemini.ts';

const REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'STOP',
  tool_calls: 'STOP',
  length: 'MAX_TOKENS',
  content_filter: 'SAFETY',
  refusal: 'SAFETY',
  other: 'LANGUAGE',
};

const usageMetadata = (usage: Usage): object => ({
  promptTokenCount: usage.prompt_tokens,
  cachedContentTokenCount: usage.cache_read,
  candidatesTokenCount: usage.completion_tokens - usage.reasoning_tokens,
  thoughtsTokenCount: usage.reasoning_tokens,
  totalTokenCount: usage.total_tokens,
});

const whole = ({ id, name, args, meta }: Readonly<ToolCall>): string => {
  if (typeof args !== 'object') throw new TypeError('the arguments are no object');
  const signature = signatureOf(meta);
  return called(name, args, signature === undefined ? { id } : { id, signature });
};

/** A call whose event breaks off inside the arguments: they come in one event or not at all. */
const brokenOff = (id: string, name: string, json: string): string => {
  const [before] = called(name, {}, { id }).split('{}');
  return `${before ?? ''}${json}`;
};

export const GEMINI_CONTRACT: ContractWire = {
  refusal: GEMINI.refusal,
  names: GEMINI.names,
  answer: ({ thinking, pieces, calls, finish, usage }) =>
    [
      thinking === null ? '' : reasoned(thinking.text, signatureOf(thinking.meta)),
      ...pieces.map(said),
      ...calls.map(whole),
      finished(REASONS[finish], usage === null ? {} : usageMetadata(usage)),
    ].join(''),
  begun: (words, call) => {
    const last = call === undefined ? '' : brokenOff(call.id, call.name, call.json);
    return [...words.map(said), last].join('');
  },
  signed: ({ thinking, calls }) => [
    ...(thinking?.meta === undefined
      ? []
      : [{ text: thinking.text, thought: true, thoughtSignature: signatureOf(thinking.meta) }]),
    ...calls
      .filter(({ meta }) => meta !== undefined)
      .map(({ id, name, args, meta }) => ({
        functionCall: { id, name, args },
        thoughtSignature: signatureOf(meta),
      })),
  ],
};
