import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';
import type { ImageRef, Message } from '@celestea/core';
import { describe, expect, test } from 'vitest';

import { aiSdkLlm } from '../src/index.ts';
import { collect, finish, requestOf, scriptedModel, text, usageOf } from './support/v3-model.ts';

const PICTURE: ImageRef = {
  attachment_id: 'ef'.repeat(32),
  media_type: 'image/png',
  width: 1,
  height: 1,
};

/** More parts than a reader takes before anything else has its turn. */
const MANY = 20_000;

/** Gives these parts, and then parts that come to nothing, always at once. */
function endlessModel(parts: readonly LanguageModelV3StreamPart[]) {
  let count = 0;
  const stream = new ReadableStream<LanguageModelV3StreamPart>({
    pull: (controller) => {
      controller.enqueue(parts[count] ?? { type: 'raw', rawValue: null });
      count += 1;
      if (count >= MANY) controller.close();
    },
  });
  const { model } = scriptedModel([]);
  const doStream = () => Promise.resolve({ stream });
  return { model: { ...model, doStream }, given: () => count };
}

describe('a request', () => {
  test('X2 an abort while a picture is read asks the model nothing', async () => {
    const { model, asked } = scriptedModel([finish()]);
    const controller = new AbortController();
    const read = (): Promise<null> => {
      controller.abort('enough');
      return Promise.resolve(null);
    };
    const messages: Message[] = [
      { role: 'user', content: [{ type: 'image', content: PICTURE }], tool_call_id: null },
    ];
    const llm = aiSdkLlm(model, { attachments: { read } });
    const { signal } = controller;
    await expect(llm.generate(requestOf({ messages }), { signal })).rejects.toBe('enough');
    await new Promise(setImmediate);
    expect(asked).toEqual([]);
  });
});

describe('the parts of a reply', () => {
  test('C2.3 reads that are asked for at once get one event each, in order', async () => {
    const { model } = scriptedModel([text('a'), finish('stop', 'stop', usageOf(1, 2)), text('b')]);
    const stream = (await aiSdkLlm(model).generate(requestOf()))[Symbol.asyncIterator]();
    const reads = await Promise.all([1, 2, 3, 4, 5].map(() => stream.next()));
    const kinds = reads.map(({ done, value }) => (done === true ? null : value.kind));
    expect(kinds).toEqual(['text', 'usage', 'done', null, null]);
  });

  test('X2 parts without an event, and without a wait, keep no abort out', async () => {
    const { model, given } = endlessModel([text('a')]);
    const controller = new AbortController();
    const { signal } = controller;
    const stream = await aiSdkLlm(model).generate(requestOf(), { signal });
    setImmediate(() => {
      controller.abort('enough');
    });
    expect(await collect(stream)).toEqual({
      events: [{ kind: 'text', text: 'a' }],
      thrown: 'enough',
    });
    expect(given()).toBeLessThan(MANY);
  });

  test('C2.3 parts without end behind the reply keep nothing else from running', async () => {
    const { model, given } = endlessModel([finish()]);
    await collect(await aiSdkLlm(model).generate(requestOf()));
    await new Promise(setImmediate);
    expect(given()).toBeLessThan(MANY);
  });
});
