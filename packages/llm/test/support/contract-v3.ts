import { setImmediate } from 'node:timers/promises';

import { APICallError } from '@ai-sdk/provider';
import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3FinishReason,
  LanguageModelV3StreamPart,
  SharedV3ProviderMetadata,
} from '@ai-sdk/provider';
import type { FinishReason } from '@celestea/core';
import type { LlmContractAnswer, LlmContractReply, LlmUnderTest } from '@celestea/core/contracts';
import { expect } from 'vitest';

import { aiSdkLlm } from '../../src/index.ts';
import { UNWRAPPED, type Wrapping } from './contract-model.ts';
import { repliesInTurn, signatureOf } from './signatures.ts';
import {
  call,
  finish,
  scriptedModel,
  text,
  usageOf,
  type ScriptedModel,
  type ScriptStep,
} from './v3-model.ts';

const REASONS: Readonly<Record<FinishReason, LanguageModelV3FinishReason['unified']>> = {
  stop: 'stop',
  tool_calls: 'tool-calls',
  length: 'length',
  content_filter: 'content-filter',
  refusal: 'content-filter',
  other: 'other',
};

/** What signs a part, as the model gives it and wants it back. */
const metadataOf = (meta: unknown): SharedV3ProviderMetadata => ({
  test: { signature: signatureOf(meta) },
});

const signed = (meta: unknown): { providerMetadata?: SharedV3ProviderMetadata } =>
  meta === undefined ? {} : { providerMetadata: metadataOf(meta) };

const said = (pieces: readonly string[]): ScriptStep[] => pieces.map((piece) => text(piece));

function answered(answer: LlmContractAnswer): LanguageModelV3StreamPart[] {
  const { thinking, pieces, calls, usage } = answer;
  const reasoning: LanguageModelV3StreamPart[] =
    thinking === null
      ? []
      : [
          { type: 'reasoning-start', id: 'r' },
          { type: 'reasoning-delta', id: 'r', delta: thinking.text },
          { type: 'reasoning-end', id: 'r', ...signed(thinking.meta) },
        ];
  return [
    ...reasoning,
    ...pieces.map((piece) => text(piece)),
    ...calls.map(({ id, name, args, meta }) =>
      call(id, JSON.stringify(args), { toolName: name, ...signed(meta) }),
    ),
    finish(
      REASONS[answer.finish],
      answer.finish,
      usageOf(usage?.prompt_tokens, usage?.completion_tokens),
    ),
  ];
}

function stepsOf(reply: LlmContractReply): ScriptStep[] {
  switch (reply.ends) {
    case 'done':
      return answered(reply);
    case 'refused': {
      const { httpStatus: statusCode, message } = reply;
      const details = { message, statusCode, url: 'http://127.0.0.1', requestBodyValues: {} };
      return [{ type: 'throw', error: new APICallError(details) }];
    }
    case 'torn': {
      const { id, name, json } = reply.call;
      return [
        ...said(reply.pieces),
        { type: 'tool-input-start', id, toolName: name },
        { type: 'tool-input-delta', id, delta: json },
        { type: 'throw', error: new TypeError('terminated') },
      ];
    }
    case 'never':
      return [...said(reply.pieces), { type: 'hang' }];
    default:
      return reply satisfies never;
  }
}

const signedParts = ({ thinking, calls }: LlmContractAnswer): object[] => [
  ...(thinking?.meta === undefined
    ? []
    : [{ type: 'reasoning', text: thinking.text, providerOptions: metadataOf(thinking.meta) }]),
  ...calls
    .filter(({ meta }) => meta !== undefined)
    .map(({ id, meta }) => ({ toolCallId: id, providerOptions: metadataOf(meta) })),
];

/** A scripted `LanguageModelV3` that sends the arranged replies. */
export function scriptedUnderTest(
  replies: readonly LlmContractReply[],
  { wrap, sent }: Wrapping = UNWRAPPED,
): LlmUnderTest {
  const asked: LanguageModelV3CallOptions[] = [];
  const played: ScriptedModel[] = [];
  let arrive: () => void = () => undefined;
  const arrival = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const turns = repliesInTurn(sent(replies), signedParts, () => asked.at(-1)?.prompt);
  const model: LanguageModelV3 = {
    ...scriptedModel([]).model,
    doStream: (options) => {
      asked.push(options);
      arrive();
      const { value } = turns.next();
      if (value === undefined) throw new Error('the script has no more replies');
      const scripted = scriptedModel(stepsOf(value));
      played.push(scripted);
      return scripted.model.doStream(options);
    },
  };
  return {
    llm: wrap(aiSdkLlm(model)),
    replies,
    reached: () => arrival,
    released: async () => {
      await setImmediate();
      expect(played.filter(({ open }) => open() > 0)).toEqual([]);
    },
  };
}
