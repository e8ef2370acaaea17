import type { FinishReason } from '@celestea/core';

import { signatureOf } from '../signatures.ts';
import type { ContractWire } from './contract-wire.ts';
import { calling, DONE, finished, OPENAI, reasoned, said, used } from './openai.ts';

const REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  tool_calls: 'tool_calls',
  length: 'length',
  content_filter: 'content_filter',
  refusal: 'content_filter',
  other: 'other',
};

/** Gemini signs its calls like this behind an API of this form. */
const besideCall = (meta: unknown): object => {
  const signature = signatureOf(meta);
  if (signature === undefined) return {};
  return { extra_content: { google: { thought_signature: signature } } };
};

export const OPENAI_CONTRACT: ContractWire = {
  refusal: OPENAI.refusal,
  names: OPENAI.names,
  answer: ({ thinking, pieces, calls, finish, usage }) =>
    [
      thinking === null ? '' : reasoned(thinking.text),
      ...pieces.map(said),
      ...calls.map(({ id, name, args, meta }, index) =>
        calling(id, name, JSON.stringify(args), index, besideCall(meta)),
      ),
      finished(REASONS[finish]),
      usage === null ? '' : used(usage),
      DONE,
    ].join(''),
  begun: (words, call) => {
    const last = call === undefined ? '' : calling(call.id, call.name, call.json, 0);
    return [...words.map(said), last].join('');
  },
  // nothing signs reasoning here: where it has to come back, it is its words that must
  signed: ({ thinking, calls }) => [
    ...(thinking?.meta === undefined ? [] : [{ reasoning_content: thinking.text }]),
    ...calls
      .filter(({ meta }) => meta !== undefined)
      .map(({ id, meta }) => ({ id, type: 'function', ...besideCall(meta) })),
  ],
};
