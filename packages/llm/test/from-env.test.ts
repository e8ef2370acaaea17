import { userMessageWithImages } from '@celestea/core';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';

import { llmFromEnv } from '../src/env/from-env.ts';
import { ANSWER, json, modelList, startProvider } from './support/any-provider.ts';
import {
  ALL,
  ANTHROPIC,
  DEEPSEEK,
  GOOGLE,
  keysIn,
  modelOf,
  NOWHERE,
  OPENAI,
  OWN,
  type Env,
} from './support/environment.ts';
import { read, REQUEST } from './support/reading.ts';

describe('who is asked', () => {
  test.each<[string, Env, string[], string | null]>([
    ['nothing set', {}, [], null],
    ['a blank key', { DEEPSEEK_API_KEY: ' \n', OPENAI_BASE_URL: '' }, [], null],
    ['an unset key', { OPENAI_API_KEY: undefined }, [], null],
    ['a key for no server', OWN, [], null],
    ['deepseek', DEEPSEEK, [], 'deepseek:deepseek-chat'],
    ['openai', OPENAI, [], 'openai:gpt-5-mini'],
    ['anthropic', ANTHROPIC, [], 'anthropic:claude-sonnet-4-5'],
    ['google', GOOGLE, [], 'google:gemini-2.5-flash'],
    ['all', ALL, [], 'deepseek:deepseek-chat'],
    ['openai before anthropic', { ...ANTHROPIC, ...OPENAI }, [], 'openai:gpt-5-mini'],
    ['a blank one before it', { ...ANTHROPIC, OPENAI_API_KEY: ' ' }, ['m'], 'anthropic:m'],
    ['a key and its base URL', { ...OPENAI, OPENAI_BASE_URL: NOWHERE }, [], 'openai:gpt-5-mini'],
    ['a base URL after keys', { ...GOOGLE, OPENAI_BASE_URL: NOWHERE }, ['m'], 'google:m'],
    ['a base URL alone', { OPENAI_BASE_URL: NOWHERE }, ['llama3:8b'], 'local:llama3:8b'],
    ['a bare name', ALL, ['deepseek-reasoner'], 'deepseek:deepseek-reasoner'],
    ['a name with a provider', ALL, ['anthropic:claude-x'], 'anthropic:claude-x'],
    ['a provider alone', ALL, [' google: '], 'google:gemini-2.5-flash'],
    ['blanks around', ALL, [' openai : gpt-x '], 'openai:gpt-x'],
    ['only the first colon counts', ALL, ['openai:ft:gpt:x'], 'openai:ft:gpt:x'],
    ['an unknown provider is part of the name', OPENAI, ['mistral:7b'], 'openai:mistral:7b'],
    ['letters count', OPENAI, ['OpenAI:x'], 'openai:OpenAI:x'],
    ['a name from the environment', { ...ALL, CELESTEA_MODEL: 'google:g' }, [], 'google:g'],
    ['several of them', { ...ALL, CELESTEA_MODEL: ' ,google:g, openai:o,' }, [], 'google:g'],
    ['the option before it', { ...ALL, CELESTEA_MODEL: 'google:g' }, ['o'], 'deepseek:o'],
    ['a blank one', { ...OPENAI, CELESTEA_MODEL: ' , ' }, [], 'openai:gpt-5-mini'],
  ])('%s', async (_, env, models, name) => {
    expect((await llmFromEnv({ env, models }))?.name ?? null).toBe(name);
  });

  test('a base URL given as option wins over every key', async () => {
    const model = await modelOf({ env: ALL, baseURL: NOWHERE, models: ['llama3:8b'] });
    expect(model.name).toBe('local:llama3:8b');
    // a stand-in may be somebody else, also the first one
    for (const models of [['openai:x', 'local:y'], ['local:y', 'openai:x']]) {
      const [first] = models;
      expect((await modelOf({ env: ALL, baseURL: NOWHERE, models })).name).toBe(first);
    }
  });

  test.each<[string, Env]>([
    ['the option', { CELESTEA_MODEL: 'deepseek:d' }],
    ['the variable', { CELESTEA_MODEL: 'local:x,y' }],
  ])('a base URL given as option goes with models of its server by %s', async (_, env) => {
    const models = env['CELESTEA_MODEL'] === 'deepseek:d' ? ['x'] : [];
    const model = await modelOf({ env: { ...ALL, ...env }, baseURL: NOWHERE, models });
    expect(model.name).toBe('local:x');
  });

  test('any name that no provider begins is a model of the first one', async () => {
    const given = fc.string({ unit: 'grapheme', minLength: 1 });
    const names = given.filter(
      (name) =>
        name.trim() !== '' &&
        !/\p{C}/u.test(name) &&
        !/^\s*(?:deepseek|openai|anthropic|google|local)\s*:/.test(name),
    );
    await fc.assert(
      fc.asyncProperty(names, async (name) => {
        const model = await modelOf({ env: OPENAI, models: [name] });
        expect(model.name).toBe(`openai:${name.trim()}`);
      }),
    );
  });

  test('the variables of the process are read where none are given, and only there', async () => {
    for (const name of Object.keys(ALL)) vi.stubEnv(name, '');
    vi.stubEnv('OPENAI_API_KEY', 'of-the-process');
    vi.stubEnv('ANTHROPIC_BASE_URL', 'https://proxy.invalid');
    vi.stubEnv('ANTHROPIC_API_KEY', 'of-the-process');
    try {
      expect((await llmFromEnv())?.name).toBe('openai:gpt-5-mini');
      const provider = await startProvider();
      await read((await modelOf({ env: ANTHROPIC })).llm);
      expect(provider.asked[0]).toMatchObject({
        host: 'api.anthropic.com',
        headers: { 'x-api-key': ANTHROPIC.ANTHROPIC_API_KEY },
      });
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

const CHAT = '/v1/chat/completions';

describe('which server gets which key', () => {
  test.each<[string, Env, string, string, string, string]>([
    ['deepseek:m', {}, 'api.deepseek.com', CHAT, 'authorization', 'deepseek-4711'],
    ['openai:m', {}, 'api.openai.com', CHAT, 'authorization', 'openai-4712'],
    [
      'openai:m',
      { OPENAI_BASE_URL: 'https://gate.invalid/o/v1/' },
      'gate.invalid',
      `/o${CHAT}`,
      'authorization',
      'openai-4712',
    ],
    ['anthropic:m', {}, 'api.anthropic.com', '/v1/messages', 'x-api-key', 'anthropic-4713'],
    [
      'anthropic:m',
      { ANTHROPIC_BASE_URL: 'https://gate.invalid/a' },
      'gate.invalid',
      '/a/messages',
      'x-api-key',
      'anthropic-4713',
    ],
    [
      'google:m',
      {},
      'generativelanguage.googleapis.com',
      '/v1beta/models/m:streamGenerateContent?alt=sse',
      'x-goog-api-key',
      'google-4714',
    ],
  ])('%s %j', async (name, variables, host, path, header, key) => {
    const provider = await startProvider();
    const padded = Object.entries(ALL).map(([variable, value]) => [variable, ` ${value}\r\n`]);
    const env = { ...(Object.fromEntries(padded) as Env), ...variables };
    const { events, error } = await read((await modelOf({ env, models: [name] })).llm);
    expect(error).toBeNull();
    expect(events).toContainEqual({ kind: 'text', text: ANSWER });
    expect(provider.asked).toHaveLength(1);
    expect(provider.asked[0]).toMatchObject({ host, path });
    const sent = provider.asked[0]?.headers[header];
    expect(sent).toBe(header === 'authorization' ? `Bearer ${key}` : key);
    expect(keysIn(provider.asked)).toEqual([key]);
  });

  const others = { ...ALL, CELESTEA_API_KEY: '' };
  const elsewhere = { OPENAI_BASE_URL: 'https://gate.invalid/v1' };
  test.each<[string, Env, string | null]>([
    ['https://mine.invalid/v1', others, null],
    ['https://mine.invalid/v1', { ...others, ...elsewhere }, null],
    ['https://mine.invalid/v1', ALL, 'celestea-4715'],
    ['https://gate.invalid/v1/', { ...others, ...elsewhere }, 'openai-4712'],
    ['https://GATE.invalid:443/v1', { ...others, ...elsewhere }, 'openai-4712'],
    ['http://gate.invalid/v1', { ...others, ...elsewhere }, null],
    ['https://gate.invalid:8443/v1', { ...others, ...elsewhere }, null],
    ['https://gate.invalid/v1', { ...ALL, ...elsewhere }, 'celestea-4715'],
    ['https://api.openai.com/v1', others, 'openai-4712'],
    ['https://api.openai.com/v1', { ...others, ...elsewhere }, null],
    ['https://api.deepseek.com/v1', others, null],
    ['https://mine.invalid/v1', { ...others, OPENAI_BASE_URL: 'no URL' }, null],
    ['https://api.openai.com/v1', ALL, 'celestea-4715'],
  ])('the option %s %j', async (baseURL, env, key) => {
    const provider = await startProvider(({ path }) =>
      path.endsWith('/models') ? modelList('one') : null,
    );
    const model = await modelOf({ env, baseURL });
    expect(model.name).toBe('local:one');
    expect((await read(model.llm)).error).toBeNull();
    expect(provider.asked.map(({ path }) => path)).toEqual(['/v1/models', CHAT]);
    for (const asked of provider.asked) {
      expect(asked.headers.authorization).toBe(key === null ? undefined : `Bearer ${key}`);
      expect(keysIn(asked)).toEqual(key === null ? [] : [key]);
    }
  });

  test.each<[Env, string | null]>([
    [{}, null],
    [OWN, 'celestea-4715'],
    [ALL, 'celestea-4715'],
    [others, 'openai-4712'],
    [{ ...others, OPENAI_API_KEY: '' }, null],
  ])('the server of OPENAI_BASE_URL %j', async (env, key) => {
    const provider = await startProvider(() => modelList('one'));
    await modelOf({ env: { ...env, OPENAI_BASE_URL: provider.url }, models: ['local:'] });
    const sent = provider.asked[0]?.headers.authorization;
    expect(sent).toBe(key === null ? undefined : `Bearer ${key}`);
    expect(keysIn(provider.asked)).toEqual(key === null ? [] : [key]);
  });

  test('reasoning goes back to DeepSeek alone', async () => {
    const reasons = 'data: {"choices":[{"delta":{"reasoning_content":"hm"}}]}\n\n';
    const ends = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n';
    await startProvider(() => ({ body: reasons + ends }));
    for (const [name, isMarked] of [['deepseek:m', true], ['openai:m', false]] as const) {
      const { events } = await read((await modelOf({ env: ALL, models: [name] })).llm);
      const marked = events.filter((event) => event.kind === 'thinking' && 'meta' in event);
      expect(marked.length > 0).toBe(isMarked);
    }
  });
});

describe('several models', () => {
  test('C2.4 each is tried again, then the next stands in; each is told by name', async () => {
    const provider = await startProvider(({ host }) =>
      host === 'api.deepseek.com' ? json({ error: { message: 'busy' } }, 503) : null,
    );
    const told: unknown[] = [];
    const model = await modelOf({
      env: { ...DEEPSEEK, ...ANTHROPIC },
      models: ['one', 'anthropic:two'],
      retry: { retries: 1, baseDelayMs: 0, onRetry: ({ attempt }) => told.push(attempt) },
      onRetry: ({ name, attempt, error }) => told.push([name, attempt, error.httpStatus]),
      onFallback: ({ failed, next }) => told.push([failed, next]),
      onAnswer: (name) => told.push(name),
    });
    expect(model.name).toBe('deepseek:one');
    expect((await read(model.llm)).events).toContainEqual({ kind: 'text', text: ANSWER });
    expect(told).toEqual([
      2,
      ['deepseek:one', 2, 503],
      ['deepseek:one', 'anthropic:two'],
      'anthropic:two',
    ]);
    const hosts = ['api.deepseek.com', 'api.deepseek.com', 'api.anthropic.com'];
    expect(provider.asked.map(({ host }) => host)).toEqual(hosts);
  });

  test('one alone tells who answers, and `false` is no other try', async () => {
    const statuses = [503];
    const provider = await startProvider(() => {
      const status = statuses.pop();
      return status === undefined ? null : json({}, status);
    });
    const told: string[] = [];
    const onAnswer = (name: string): void => void told.push(name);
    const options = { env: {}, baseURL: provider.url, models: ['m'], onAnswer };
    const { llm } = await modelOf({ ...options, retry: false });
    expect((await read(llm)).error).toMatchObject({ httpStatus: 503 });
    expect(provider.asked).toHaveLength(1);
    expect((await read(llm)).error).toBeNull();
    expect(told).toEqual(['local:m']);
  });

  test('limits reach the requests', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const provider = await startProvider(() => 'silence');
    const { llm } = await modelOf({
      env: {},
      baseURL: provider.url,
      models: ['m'],
      timeouts: { responseMs: 700 },
      retry: false,
    });
    const asked = provider.next();
    const reading = read(llm);
    await asked;
    vi.advanceTimersByTime(700);
    expect((await reading).error).toMatchObject({ kind: 'timeout', timeoutStage: 'response' });
  });

  test('pictures are read from the store that is given', async () => {
    await startProvider();
    const ref = { attachment_id: 'a1', media_type: 'image/png' as const, width: 1, height: 1 };
    const wanted: unknown[] = [];
    const told: string[] = [];
    const store = { read: (asked: unknown) => Promise.resolve((wanted.push(asked), null)) };
    for (const name of ['openai:', 'anthropic:']) {
      const { llm } = await modelOf({ env: ALL, models: [name], attachments: store });
      const messages = [userMessageWithImages('look', [ref])];
      for await (const event of await llm.generate({ ...REQUEST, messages })) told.push(event.kind);
    }
    expect(wanted).toEqual([ref, ref]);
    expect(told.filter((kind) => kind === 'done')).toHaveLength(2);
  });

  test.each<[string, boolean | undefined, boolean]>([
    ['deepseek:', undefined, false],
    ['deepseek:', true, true],
    ['openai:', undefined, true],
    ['openai:', false, false],
    ['anthropic:', false, false],
    ['google:', undefined, true],
    ['local:m', undefined, true],
    ['local:m', false, false],
  ])('%s with pictures %s is sent them: %s', async (name, pictures, isSent) => {
    const provider = await startProvider();
    const ref = { attachment_id: 'a1', media_type: 'image/png' as const, width: 1, height: 1 };
    const attachments = { read: () => Promise.resolve(new Uint8Array([1, 2, 3])) };
    const env = { ...ALL, OPENAI_BASE_URL: provider.url };
    const given = pictures === undefined ? {} : { pictures };
    const { llm } = await modelOf({ env, models: [name], attachments, ...given });
    const messages = [userMessageWithImages('look', [ref])];
    const told: string[] = [];
    for await (const { kind } of await llm.generate({ ...REQUEST, messages })) told.push(kind);
    expect(told).toContain('done');
    const body = JSON.stringify(provider.asked[0]?.body);
    expect(body.includes('AQID')).toBe(isSent);
    expect(body.includes('this model cannot see pictures')).toBe(!isSent);
  });
});
