import { inspect } from 'node:util';

import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { MODELS_WAIT_MS } from '../src/env/first-model.ts';
import { LlmSetupError } from '../src/env/setup-error.ts';
import { llmFromEnv } from '../src/env/from-env.ts';
import { json, modelList, startProvider, type Answer } from './support/any-provider.ts';
import { failureOf, modelOf, NOWHERE } from './support/environment.ts';

describe('a server that is to say its models', () => {
  test.each<[string, unknown[], string]>([
    ['the first', ['llama3:8b', 'other'], 'local:llama3:8b'],
    ['the first that is a name', [7, null, ' ', 'a\u001b[2Jb', 'good'], 'local:good'],
    ['none for embeddings', ['text-embedding-nomic', 'chat'], 'local:chat'],
    ['unless it has no other', ['nomic-embed-text'], 'local:nomic-embed-text'],
  ])('%s', async (_, ids, name) => {
    const provider = await startProvider(() => modelList(...ids));
    expect((await modelOf({ env: {}, baseURL: `${provider.url}/v1/` })).name).toBe(name);
    expect(provider.asked).toMatchObject([{ path: '/v1/models' }]);
  });

  test('may want a user and a password, which are never shown', async () => {
    const provider = await startProvider(({ headers }) =>
      headers.authorization === `Basic ${btoa('ada:s3cret')}` ? modelList('one') : json({}, 401),
    );
    const withUser = (user: string): string => provider.url.replace('//', `//${user}@`);
    const model = await modelOf({ env: { OPENAI_BASE_URL: withUser('ada:s3cret') } });
    expect(model.name).toBe('local:one');
    const error = await failureOf(llmFromEnv({ env: {}, baseURL: withUser('ada:wr0ng') }));
    expect(inspect(error)).not.toMatch(/wr0ng|ada/);
    const why = `${provider.url}/models could not be asked: HTTP status 401`;
    expect(error.message).toBe(`no model is named, and ${why}`);
  });

  const page = { headers: { 'content-type': 'text/html' }, body: '<secret>' };
  const moved = { status: 302, headers: { location: '/elsewhere' }, body: '' };
  test.each<[string, Answer, string]>([
    ['is refused', json({ error: 'secret' }, 403), 'HTTP status 403'],
    ['is sent elsewhere', moved, 'HTTP status 302'],
    ['gets a page', page, 'the answer is no list of models'],
    ['gets another shape', json({ data: {} }), 'the answer is no list of models'],
    ['gets an array', json([]), 'the answer is no list of models'],
    ['gets no models', modelList(), 'it has no models'],
    ['gets no end', { body: ' '.repeat(9 * 1024 * 1024) }, 'the answer is too long'],
  ])('who %s hears why', async (_, answer, why) => {
    const provider = await startProvider(() => answer);
    const error = await failureOf(llmFromEnv({ env: {}, baseURL: provider.url }));
    expect(error).toBeInstanceOf(LlmSetupError);
    const where = `${provider.url}/models`;
    expect(error.message).toBe(`no model is named, and ${where} could not be asked: ${why}`);
    expect(provider.asked).toHaveLength(1);
  });

  test.each<[unknown, string]>([
    [new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') }), 'ECONNREFUSED'],
    [
      new TypeError('fetch failed', {
        // one failure for each address of a name
        cause: Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }),
      }),
      'ECONNREFUSED',
    ],
    [new TypeError('bad port'), 'bad port'],
    ['words', 'no answer'],
  ])('who finds nobody hears so: %s', async (thrown, why) => {
    vi.stubGlobal('fetch', vi.fn().mockRejectedValue(thrown));
    onTestFinished(() => void vi.unstubAllGlobals());
    const error = await failureOf(llmFromEnv({ env: { OPENAI_BASE_URL: NOWHERE } }));
    expect(error).toBeInstanceOf(LlmSetupError);
    const where = 'http://127.0.0.1:1/v1/models could not be asked: ';
    expect(error.message).toContain(where);
    expect(error.message.split(where)[1]).toContain(why);
  });

  test('is let go when it answers something else, however long that is', async () => {
    const signals: (AbortSignal | null | undefined)[] = [];
    const fetch: typeof globalThis.fetch = (_, init) => {
      signals.push(init?.signal);
      return Promise.resolve(new Response(new ReadableStream(), { status: 403 }));
    };
    vi.stubGlobal('fetch', fetch);
    onTestFinished(() => void vi.unstubAllGlobals());
    await failureOf(llmFromEnv({ env: {}, baseURL: NOWHERE }));
    expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
  });

  test('is not waited for without end', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const provider = await startProvider(() => 'silence');
    const asked = provider.next();
    const failed = failureOf(llmFromEnv({ env: {}, baseURL: provider.url }));
    await asked;
    vi.advanceTimersByTime(MODELS_WAIT_MS);
    const error = await failed;
    expect(error).toBeInstanceOf(LlmSetupError);
    expect(error.message).toContain(`for ${String(MODELS_WAIT_MS)} ms`);
  });

  test('is waited for no longer than for an answer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const provider = await startProvider(() => 'silence');
    for (const [responseMs, limit] of [[700, 700], [0, MODELS_WAIT_MS], [20_000, MODELS_WAIT_MS]]) {
      const asked = provider.next();
      const timeouts = { responseMs: responseMs ?? 0 };
      const failed = failureOf(llmFromEnv({ env: {}, baseURL: provider.url, timeouts }));
      await asked;
      vi.advanceTimersByTime(limit ?? 0);
      expect((await failed).message).toContain(`for ${String(limit)} ms`);
    }
  });

  test('is not asked when an option is wrong', async () => {
    const provider = await startProvider(() => 'silence');
    const timeouts = { responseMs: -1 };
    const error = await failureOf(llmFromEnv({ env: {}, baseURL: provider.url, timeouts }));
    expect(error).toBeInstanceOf(TypeError);
    expect(provider.asked).toEqual([]);
  });

  test('is left when the signal aborts, before or meanwhile', async () => {
    const provider = await startProvider(() => 'silence');
    const reason = new Error('enough');
    const controller = new AbortController();
    const options = { env: {}, baseURL: provider.url, signal: controller.signal };
    const asked = provider.next();
    const failed = failureOf(llmFromEnv(options));
    await asked;
    controller.abort(reason);
    expect(await failed).toBe(reason);
    expect(await failureOf(llmFromEnv(options))).toBe(reason);
  });
});
