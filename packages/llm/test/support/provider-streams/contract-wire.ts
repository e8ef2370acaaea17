import type {
  LlmContractAnswer,
  LlmContractRefusal,
  LlmContractReply,
  LlmContractTear,
} from '@celestea/core/contracts';

import { bytesOf, jsonReply, type ScriptedReply } from '../scripted-reply.ts';
import type { ProviderWire } from './good-stream.ts';

/** How a provider puts what `llmContract` arranges into bytes. */
export interface ContractWire extends Pick<ProviderWire, 'refusal' | 'names'> {
  readonly answer: (answer: LlmContractAnswer) => string;
  /** The beginning of a reply: its words, and as much of a call as is sent. */
  readonly begun: (words: readonly string[], call?: LlmContractTear['call']) => string;
  /** What has to stand in the request that follows a signed answer: for each signature, fields. */
  readonly signed: (answer: LlmContractAnswer) => readonly object[];
}

/** What a provider sends for an arranged reply, each event of a stream by itself. */
export function encoded(wire: ContractWire, reply: LlmContractReply): ScriptedReply {
  switch (reply.ends) {
    case 'done':
      return { pieces: eventsOf(wire.answer(reply)) };
    case 'refused':
      return refusalOf(wire, reply);
    case 'torn':
      return { pieces: eventsOf(wire.begun(reply.pieces, reply.call)), ending: 'cut' };
    case 'never':
      return reply.pieces.length === 0
        ? { mute: true }
        : { pieces: eventsOf(wire.begun(reply.pieces)), ending: 'silence' };
    default:
      return reply satisfies never;
  }
}

const eventsOf = (wire: string): Uint8Array[] => wire.split(/(?<=\n\r?\n)/).map(bytesOf);

function refusalOf(
  { refusal, names }: ContractWire,
  { httpStatus, message }: LlmContractRefusal,
): ScriptedReply {
  const types: Readonly<Record<number, string>> = { 401: names.key, 429: names.rateLimit };
  const type = types[httpStatus] ?? 'invalid_request_error';
  return jsonReply(httpStatus, refusal({ message, type }));
}
