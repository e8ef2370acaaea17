import type { Llm } from '@celestea/core';
import type { LlmContractReply, LlmUnderTest } from '@celestea/core/contracts';

import { startModelServer, type ModelServer } from './model-server.ts';
import { encoded, type ContractWire } from './provider-streams/contract-wire.ts';
import { endpointOf, type Endpoint } from './provider-suite.ts';
import type { ScriptedReply } from './scripted-reply.ts';
import { repliesInTurn, signedBy, type Signed } from './signatures.ts';

/** A model of a provider, as `llmContract` is to find it. */
export interface ContractModel {
  readonly wire: ContractWire;
  /** What comes signed, and has to come back so. */
  readonly signs: readonly Signed[];
  readonly llm: (endpoint: Endpoint) => Llm;
}

/** What stands around a model. */
export interface Wrapping {
  readonly wrap: (llm: Llm) => Llm;
  /** What the model has to send for these replies to come out. */
  readonly sent: (replies: readonly LlmContractReply[]) => readonly LlmContractReply[];
}

export const UNWRAPPED: Wrapping = { wrap: (llm) => llm, sent: (replies) => replies };

/** The model against a server on loopback that sends the arranged replies. */
export async function modelUnderTest(
  { wire, signs, llm }: ContractModel,
  arranged: readonly LlmContractReply[],
  { wrap, sent }: Wrapping = UNWRAPPED,
): Promise<LlmUnderTest> {
  const replies = signedBy(signs, arranged);
  const server: ModelServer = await startModelServer(
    scriptOf(wire, sent(replies), () => server.requests.at(-1)?.body),
  );
  const over = async (): Promise<void> => {
    await Promise.all(server.requests.map(({ ended }) => ended));
    await server.settled();
  };
  return {
    llm: wrap(llm(endpointOf(server))),
    replies,
    reached: async () => {
      if (server.requests.length === 0) await server.arrival();
    },
    released: over,
    dispose: over,
  };
}

function* scriptOf(
  wire: ContractWire,
  replies: readonly LlmContractReply[],
  latest: () => unknown,
): Generator<ScriptedReply> {
  for (const reply of repliesInTurn(replies, wire.signed, latest)) yield encoded(wire, reply);
}
