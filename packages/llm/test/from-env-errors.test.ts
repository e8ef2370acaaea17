import { inspect } from 'node:util';

import { describe, expect, test, vi } from 'vitest';

import { ADAPTERS, type Adapter, type Adapters } from '../src/env/adapters.ts';
import type { LlmFromEnvOptions } from '../src/env/options.ts';
import { LlmSetupError } from '../src/env/setup-error.ts';
import { llmFromEnv, setUpLlm } from '../src/env/from-env.ts';
import { json, startProvider } from './support/any-provider.ts';
import {
  ALL,
  ANTHROPIC,
  failureOf,
  keysIn,
  modelOf,
  OPENAI,
  type Env,
} from './support/environment.ts';
import { read } from './support/reading.ts';

describe('what cannot be set up', () => {
  const keys =
    'DEEPSEEK_API_KEY, OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY';
  const noKey = 'printable ASCII characters without blanks, got others';
  const noURL = 'an http or https URL without a query';
  test.each<[string, Env, string[], string]>([
    ['deepseek', OPENAI, ['deepseek:x'], 'deepseek models need a key: set DEEPSEEK_API_KEY'],
    ['openai', {}, ['openai:'], 'openai models need a key: set OPENAI_API_KEY'],
    ['anthropic', OPENAI, ['anthropic:x'], 'anthropic models need a key: set ANTHROPIC_API_KEY'],
    [
      'google',
      OPENAI,
      ['gpt', 'google:x'],
      'google models need a key: set GOOGLE_GENERATIVE_AI_API_KEY',
    ],
    ['local', OPENAI, ['local:x'], 'local models need a base URL: set OPENAI_BASE_URL'],
    [
      'nobody',
      {},
      ['llama3:8b'],
      `nobody can be asked for the model "llama3:8b": set one of ${keys}, or OPENAI_BASE_URL; ` +
        'what may stand before the colon is deepseek, openai, anthropic, google, local',
    ],
    [
      'nobody, and a provider for a model',
      {},
      ['anthropic'],
      `nobody can be asked for the model "anthropic": set one of ${keys}, or OPENAI_BASE_URL; ` +
        'the usual model of anthropic is "anthropic:"',
    ],
    ['a torn key', { OPENAI_API_KEY: 'openai-4712\nx' }, [], `OPENAI_API_KEY: expected ${noKey}`],
    ['a quoted key', { DEEPSEEK_API_KEY: '“4711”' }, [], `DEEPSEEK_API_KEY: expected ${noKey}`],
    [
      'a base URL',
      { ...OPENAI, OPENAI_BASE_URL: 'ada:openai-4712@host' },
      [],
      `OPENAI_BASE_URL: expected ${noURL}, got a text that is no such URL`,
    ],
    [
      'another base URL',
      { ...ANTHROPIC, ANTHROPIC_BASE_URL: 'localhost' },
      [],
      `ANTHROPIC_BASE_URL: expected ${noURL}, got a text that is no such URL`,
    ],
    ...['openai-4712.abcdef', 'ada:openai-4712', 'sk://openai-4712', 'http:/openai-4712'].map(
      (key): [string, Env, string[], string] => [
        `a key in its place, ${key}`,
        { OPENAI_BASE_URL: key },
        ['local:x'],
        `OPENAI_BASE_URL: expected ${noURL}, got a text that is no such URL`,
      ],
    ),
    [
      'a name',
      { ...OPENAI, CELESTEA_MODEL: 'a\u0007' },
      [],
      'CELESTEA_MODEL: expected the name of a model, "[provider:]model", got "a\\u0007"',
    ],
  ])('%s', async (_, env, models, message) => {
    const error = await failureOf(llmFromEnv({ env, models }));
    expect(error).toBeInstanceOf(LlmSetupError);
    expect(error).toMatchObject({ name: 'LlmSetupError', message, install: null });
    expect(keysIn(error)).toEqual([]);
  });

  test.each(['deepseek:d', 'local:x, deepseek:d'])(
    'a base URL beside another provider in the environment: %s',
    async (names) => {
      const provider = await startProvider();
      const baseURL = provider.url.replace('//', '//ada:openai-4712@');
      const env = { ...ALL, CELESTEA_MODEL: names };
      const error = await failureOf(llmFromEnv({ env, baseURL }));
      expect(error).toBeInstanceOf(LlmSetupError);
      expect(error.message).toBe(
        `CELESTEA_MODEL names "deepseek:d", which is no model of the server ${provider.url} ` +
          'that is to be asked: name one of its own, such as "local:", or leave one of them out',
      );
      expect(keysIn(error)).toEqual([]);
      expect(provider.asked).toEqual([]);
    },
  );

  const failing = (error: unknown): Adapters => ({
    ...ADAPTERS,
    anthropic: { ...ADAPTERS.anthropic, load: vi.fn<Adapter['load']>().mockRejectedValue(error) },
  });
  const missing = (name: string): Error =>
    Object.assign(new Error(`Cannot find package '${name}' imported from /app/x.js`), {
      code: 'ERR_MODULE_NOT_FOUND',
    });
  test.each<[unknown, string]>([
    [missing('@ai-sdk/anthropic'), 'is not installed'],
    [
      missing('@ai-sdk/provider-utils'),
      "cannot be loaded (Cannot find package '@ai-sdk/provider-utils' imported from /app/x.js)",
    ],
    [new SyntaxError("no '@ai-sdk/anthropic'"), "cannot be loaded (no '@ai-sdk/anthropic')"],
    ['words', 'cannot be loaded'],
  ])('a package is missing: %s', async (thrown, fault) => {
    const error = await failureOf(setUpLlm({ env: ANTHROPIC }, failing(thrown)));
    const install = 'npm install @ai-sdk/anthropic@3';
    const needed = 'anthropic models need the package @ai-sdk/anthropic';
    const message = `${needed}, which ${fault}: ${install}`;
    expect(error).toBeInstanceOf(LlmSetupError);
    expect(error).toMatchObject({ message, install });
    // of no concern to others
    const other = await setUpLlm({ env: ALL }, failing(thrown));
    expect(other?.name).toBe('deepseek:deepseek-chat');
  });

  test.each<[unknown, string]>([
    [[], 'options: expected an object, got an array'],
    [{ env: 7 }, 'env: expected an object of strings, got 7'],
    [{ models: 'a,b' }, 'models: expected an array of strings, got "a,b"'],
    [
      { models: ['a', ' '] },
      'models[1]: expected the name of a model, "[provider:]model", got " "',
    ],
    [{ models: [7] }, 'models[0]: expected the name of a model, "[provider:]model", got 7'],
    [
      { baseURL: 'http://ada:s3cret@host/v1?x' },
      'baseURL: expected an http or https URL without a query, got "http://host/v1"',
    ],
    [
      { baseURL: 'http://host/v1', models: ['openai:x', 'google:'] },
      'models: expected one of the server of baseURL, such as "local:", got "openai:x"',
    ],
    [
      { baseURL: 'http://host/v1', models: ['google:'] },
      'models: expected one of the server of baseURL, such as "local:", got "google:"',
    ],
    [{ pictures: 'no' }, 'pictures: expected true or false, got "no"'],
    [{ baseURL: '' }, 'baseURL: expected an http or https URL without a query, got ""'],
    [{ retry: true }, 'retry: expected an object such as { retries: 2 }, or false, got true'],
    [{ retry: { retries: -1 } }, 'retries: expected a whole number from 0, got -1'],
    [{ onRetry: 1 }, 'onRetry: expected a function, got 1'],
    [{ onFallback: 1 }, 'onFallback: expected a function, got 1'],
    [{ onAnswer: 1 }, 'onAnswer: expected a function, got 1'],
    [{ signal: {} }, 'signal: expected an AbortSignal, got an object'],
    [{ attachments: {} }, 'attachments: expected an object with a read function, got an object'],
    [
      { timeouts: { idleMs: '1' } },
      'timeouts.idleMs: expected a number of milliseconds, 0 or more, got "1"',
    ],
  ])('an option is wrong: %j', async (options, message) => {
    const given = Array.isArray(options) ? options : { env: OPENAI, ...(options as object) };
    const error = await failureOf(llmFromEnv(given as LlmFromEnvOptions));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toBe(message);
  });
});

/** What each provider's adapter wants to find beside the message. */
const REFUSED = { type: 'authentication_error', code: 401, status: 'UNAUTHENTICATED' };

test('C2.4 no key stands in an error of any provider, nor in an inspected model', async () => {
  await startProvider(({ headers }) =>
    json({ type: 'error', error: { ...REFUSED, message: inspect(headers) } }, 401),
  );
  for (const name of ['deepseek', 'openai', 'anthropic', 'google']) {
    const model = await modelOf({ env: ALL, models: [`${name}:m`], retry: false });
    const { error } = await read(model.llm);
    expect(error).toMatchObject({ httpStatus: 401 });
    expect(String(error)).toContain('[hidden]');
    expect(keysIn([error, model])).toEqual([]);
  }
});
