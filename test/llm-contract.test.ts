import { LlmError, type Llm, type StreamEvent } from '@celestea/core';
import {
  llmContract,
  type LlmContractAnswer,
  type LlmContractReply,
  type LlmUnderTest,
} from '@celestea/core/contracts';
import { assert, describe, test } from 'vitest';

import {
  done,
  failingLlm,
  HangingLlm,
  RecordingLlm,
  ScriptedLlm,
  think,
  thinkSigned,
  type Script,
} from '../src/testing/index.ts';

const words = (pieces: readonly string[]): StreamEvent[] =>
  pieces.map((text) => ({ kind: 'text', text }));

/** The error of a reply that ends in one. */
const errorOf = (reply: Extract<LlmContractReply, { ends: 'refused' | 'torn' }>): LlmError =>
  reply.ends === 'torn'
    ? new LlmError('the connection was cut', 'stream', { retryable: true })
    : new LlmError(reply.message, 'generate', reply);

/** Plays a reply; `signal` gives the signal of its request, which the script heeds. */
function scriptOf(reply: LlmContractReply, signal: () => AbortSignal | undefined): Script {
  switch (reply.ends) {
    case 'done': {
      const { pieces, calls, finish, usage } = reply;
      const end = done(pieces.join(''), ...calls);
      return [
        () => signal()?.throwIfAborted(),
        ...thoughts(reply),
        ...words(pieces),
        end.kind === 'done' ? { ...end, finish } : end,
        ...(usage === null ? [] : [{ kind: 'usage', usage } as const]),
      ];
    }
    case 'refused':
      return [() => Promise.reject(errorOf(reply))];
    case 'torn':
      return [...words(reply.pieces), () => Promise.reject(errorOf(reply))];
    case 'never':
      return [...words(reply.pieces), () => untilAborted(signal())];
    default:
      return reply satisfies never;
  }
}

function thoughts({ thinking }: LlmContractAnswer): StreamEvent[] {
  if (thinking === null) return [];
  const { text, meta } = thinking;
  return [meta === undefined ? think(text) : thinkSigned(text, meta)];
}

const untilAborted = (signal: AbortSignal | undefined): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => {
      reject(signal?.reason as Error);
    };
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });

function scripted(replies: readonly LlmContractReply[]): LlmUnderTest & { llm: ScriptedLlm } {
  const llm: ScriptedLlm = new ScriptedLlm(
    replies.map((reply, index) => scriptOf(reply, () => llm.signals[index])),
  );
  const released = async (): Promise<void> => {
    await Promise.resolve();
    assert.notInclude(llm.fates, 'open');
  };
  return { llm, released };
}

describe('ScriptedLlm', () => {
  llmContract((_, replies) => scripted(replies), { test, assert });
});

describe('RecordingLlm', () => {
  llmContract(
    (_, replies) => {
      const { llm, ...rest } = scripted(replies);
      return { llm: new RecordingLlm(llm), ...rest };
    },
    { test, assert },
  );
});

describe.each(['reject', 'throw'] as const)('failingLlm that is to %s', (how) => {
  const failing = ([reply]: readonly LlmContractReply[]): Llm => {
    assert.ok(reply?.ends === 'refused');
    return failingLlm(errorOf(reply), how);
  };
  llmContract((_, replies) => ({ llm: failing(replies) }), { test, assert }, ['refused']);
});

// It hears no signal: a turn has to end without it.
describe('HangingLlm', () => {
  llmContract(
    (_, [reply]) => {
      assert.ok(reply?.ends === 'never');
      const llm = new HangingLlm(words(reply.pieces));
      const released = async (): Promise<void> => {
        await Promise.resolve();
        assert.equal(llm.closed, 1);
      };
      return { llm, released };
    },
    { test, assert },
    ['left'],
  );
});
