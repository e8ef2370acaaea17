import type { FinishReason, Usage } from '@celestea/core';
import type { LlmContractAnswer } from '@celestea/core/contracts';

import { signatureOf } from '../signatures.ts';
import { ANTHROPIC, called, calling, reasoned, said, started, stopped } from './anthropic.ts';
import type { ContractWire } from './contract-wire.ts';

const REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  tool_calls: 'tool_use',
  length: 'max_tokens',
  content_filter: 'refusal',
  refusal: 'refusal',
  other: 'pause_turn',
};

/** Reasoning is always signed here; this is a signature that nobody asks back. */
const ANY_SIGNATURE = 'YW55';

type Block = (index: number) => string;

function blocksOf({ thinking, pieces, calls }: LlmContractAnswer): Block[] {
  const blocks: Block[] = [
    (index) => said(index, ...pieces),
    ...calls.map(
      ({ id, name, args }): Block =>
        (index) =>
          called(index, id, name, JSON.stringify(args)),
    ),
  ];
  if (thinking === null) return blocks;
  const signature = signatureOf(thinking.meta) ?? ANY_SIGNATURE;
  return [(index) => reasoned(index, signature, thinking.text), ...blocks];
}

const usageAtStart = ({ prompt_tokens, cache_read }: Usage): object => ({
  input_tokens: prompt_tokens - cache_read,
  cache_read_input_tokens: cache_read,
  output_tokens: 1,
});

export const ANTHROPIC_CONTRACT: ContractWire = {
  refusal: ANTHROPIC.refusal,
  names: ANTHROPIC.names,
  answer: (answer) => {
    const { finish, usage } = answer;
    return [
      usage === null ? started({}) : started(usageAtStart(usage)),
      ...blocksOf(answer).map((block, index) => block(index)),
      stopped(REASONS[finish], usage === null ? {} : { output_tokens: usage.completion_tokens }),
    ].join('');
  },
  begun: (words, call) =>
    [
      started(),
      said(0, ...words),
      call === undefined ? '' : calling(1, call.id, call.name, call.json),
    ].join(''),
  signed: ({ thinking }) =>
    thinking?.meta === undefined
      ? []
      : [{ type: 'thinking', thinking: thinking.text, signature: signatureOf(thinking.meta) }],
};
