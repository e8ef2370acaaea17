import type { ImageRef, Message } from '@celestea/core';
import { describe, expect, test } from 'vitest';

import { aiSdkLlm } from '../src/index.ts';
import { finish, requestOf, scriptedModel, text, usageOf } from './support/v3-model.ts';

const PICTURE: ImageRef = {
  attachment_id: 'ef'.repeat(32),
  media_type: 'image/png',
  width: 1,
  height: 1,
};

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
});
