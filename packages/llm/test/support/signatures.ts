import { isDeepStrictEqual } from 'node:util';

import { isRecord } from '@celestea/core';
import type {
  LlmContractAnswer,
  LlmContractRefusal,
  LlmContractReply,
} from '@celestea/core/contracts';

/** What a provider can sign. */
export type Signed = 'reasoning' | 'calls';

/** The text that stands for a signature in an arranged reply; `undefined` where nothing signs. */
export function signatureOf(meta: unknown): string | undefined {
  if (meta === undefined) return undefined;
  if (isRecord(meta) && typeof meta['signature'] === 'string') return meta['signature'];
  throw new TypeError(`no signature: ${JSON.stringify(meta)}`);
}

/** The replies as a provider can give them that signs no more than this. */
export const signedBy = (
  signs: readonly Signed[],
  replies: readonly LlmContractReply[],
): LlmContractReply[] =>
  replies.map((reply): LlmContractReply => {
    if (reply.ends !== 'done') return reply;
    const { thinking, calls } = reply;
    return {
      ...reply,
      thinking: thinking === null || signs.includes('reasoning') ? thinking : unsigned(thinking),
      calls: signs.includes('calls') ? calls : calls.map(unsigned),
    };
  });

const unsigned = <T extends { readonly meta?: unknown }>(one: T): T => ({
  ...one,
  meta: undefined,
});

const SIGNATURE_MISSING: LlmContractRefusal = {
  ends: 'refused',
  httpStatus: 400,
  message: 'a signature is missing, or is not the one that was given',
  retryable: false,
};

/**
 * The replies one after the other. Whatever follows a signed answer is refused, unless all that
 * was signed stands in the request.
 *
 * @param signed what that is: for each signature the fields of one object
 * @param latest the request that is being answered
 */
export function* repliesInTurn(
  replies: readonly LlmContractReply[],
  signed: (answer: LlmContractAnswer) => readonly object[],
  latest: () => unknown,
): Generator<LlmContractReply, undefined> {
  let expected: readonly object[] = [];
  for (const reply of replies) {
    const isWhole = expected.every((fields) => holds(latest(), fields));
    yield isWhole ? reply : SIGNATURE_MISSING;
    expected = reply.ends === 'done' ? signed(reply) : [];
  }
}

/** Whether an object with these fields, whatever others it has, is somewhere in a value. */
function holds(value: unknown, fields: object): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const own = new Map(Object.entries(value));
  const fits = Object.entries(fields).every(([name, field]) =>
    isDeepStrictEqual(own.get(name), field),
  );
  return fits || [...own.values()].some((inner) => holds(inner, fields));
}
