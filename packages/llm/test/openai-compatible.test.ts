import { inspect } from 'node:util';

import { assistantToolCall, LlmError, toolResultMessage, userMessage } from '@celestea/core';
import { describe, expect, test } from 'vitest';

import { openAICompatibleLlm, type OpenAICompatibleOptions } from '../src/openai-compatible.ts';
import { ANSWER, json, startProvider } from './support/any-provider.ts';
import { KEY } from './support/provider-streams/good-stream.ts';
import { read } from './support/reading.ts';
import { collect, requestOf } from './support/v3-model.ts';

const SERVER = { baseURL: 'http://127.0.0.1:1/v1', model: 'm' };
const PASSWORD = 'p@ss w/rd:1';
const ENCODED = encodeURIComponent(PASSWORD);

/** What a wrong option is answered with. */
function complaint(options: unknown): string {
  try {
    openAICompatibleLlm(options as OpenAICompatibleOptions);
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return (error as Error).message;
  }
  throw new Error('it was taken');
}

describe('a model of an OpenAI-compatible server', () => {
  test('C2.3 asks for its own model, with its key, and for the usage', async () => {
    const provider = await startProvider();
    const llm = openAICompatibleLlm({
      baseURL: ` ${provider.url}/v1// `,
      model: 'llama3:8b',
      apiKey: ` ${KEY}\n`,
      headers: { 'X-Title': 'celestea' },
      providerOptions: { openaiCompatible: { user: 'ada' } },
    });
    expect(provider.asked).toEqual([]);
    const { events, error } = await read(llm);
    expect(error).toBeNull();
    expect(events.map(({ kind }) => kind)).toEqual(['text', 'usage', 'done']);
    expect(events[0]).toEqual({ kind: 'text', text: ANSWER });
    expect(provider.asked).toHaveLength(1);
    expect(provider.asked[0]).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${KEY}`, 'x-title': 'celestea' },
      body: {
        model: 'llama3:8b',
        user: 'ada',
        max_tokens: 500,
        stream_options: { include_usage: true },
      },
    });
  });

  test('X10 what a server signed goes back to it, and to no other', async () => {
    const [first, second] = [await startProvider(), await startProvider()];
    const metadata = { openaiCompatible: { thoughtSignature: 'signed-by-first' } };
    const meta = { provider: `openaiCompatible@${new URL(first.url).host}`, metadata };
    const messages = [
      userMessage('go'),
      assistantToolCall({ id: 'a', name: 'look', args: {}, meta }),
      toolResultMessage('a', 'seen'),
    ];
    for (const { url } of [first, second]) {
      const llm = openAICompatibleLlm({ baseURL: url, model: 'm' });
      await collect(await llm.generate(requestOf({ messages })));
    }
    expect(JSON.stringify(first.asked[0]?.body)).toContain('signed-by-first');
    expect(JSON.stringify(second.asked[0]?.body)).not.toContain('signed-by-first');
  });

  test('has no authorization without a key, and headers that are given win', async () => {
    const provider = await startProvider();
    const server = { baseURL: provider.url, model: 'm' };
    await read(openAICompatibleLlm(server));
    const headers = { AUTHORIZATION: 'Bearer other-token' };
    await read(openAICompatibleLlm({ ...server, apiKey: KEY, headers }));
    const sent = provider.asked.map((asked) => asked.headers.authorization);
    expect(sent).toEqual([undefined, 'Bearer other-token']);
  });

  test('a user and a password in the URL are sent as basic authorization', async () => {
    const provider = await startProvider();
    const baseURL = provider.url.replace('//', `//ada:${ENCODED}@`);
    await read(openAICompatibleLlm({ baseURL, model: 'm', apiKey: KEY }));
    const [scheme, token = ''] = provider.asked[0]?.headers.authorization?.split(' ') ?? [];
    expect(scheme).toBe('Basic');
    expect(Buffer.from(token, 'base64').toString()).toBe(`ada:${PASSWORD}`);
  });

  test("OpenAI's own API gets the limit of tokens by its new name", async () => {
    const provider = await startProvider();
    await read(openAICompatibleLlm({ baseURL: 'https://api.openai.com/v1', model: 'gpt-5-mini' }));
    expect(provider.asked[0]?.host).toBe('api.openai.com');
    expect(provider.asked[0]?.body).toMatchObject({ max_completion_tokens: 500 });
    expect(provider.asked[0]?.body).not.toHaveProperty('max_tokens');
  });

  test('C2.4 follows no redirect, and does not call it worth another try', async () => {
    const other = await startProvider();
    const headers = { location: `${other.url}/chat/completions` };
    const provider = await startProvider(() => ({ status: 307, headers, body: '' }));
    const secret = { 'api-key': KEY };
    const llm = openAICompatibleLlm({ baseURL: provider.url, model: 'm', headers: secret });
    const { error } = await read(llm);
    expect(error).toBeInstanceOf(LlmError);
    expect(error).toMatchObject({ httpStatus: 307, retryable: false });
    expect(other.asked).toEqual([]);
  });

  test('asks with the fetch that is given', async () => {
    const hosts: string[] = [];
    const fetch: typeof globalThis.fetch = (input) => {
      hosts.push(input instanceof Request ? input.url : new URL(input).href);
      return Promise.resolve(new Response('{"error":{"message":"no"}}', { status: 400 }));
    };
    const { error } = await read(openAICompatibleLlm({ ...SERVER, fetch }));
    expect(hosts).toEqual(['http://127.0.0.1:1/v1/chat/completions']);
    expect(error).toMatchObject({ httpStatus: 400 });
  });

  test('C2.4 no credential stands in an error, nor in an inspected model', async () => {
    const provider = await startProvider(({ headers }) => {
      const token = headers.authorization?.split(' ')[1] ?? '';
      const plain = Buffer.from(token, 'base64').toString();
      const words = Object.values(headers).map((value) => String(value).split(' ').at(-1));
      const message = `${words.join()}, that is ${plain}, in ${JSON.stringify(headers)}`;
      return json({ error: { message } }, 401);
    });
    const server = { baseURL: provider.url, model: 'm' };
    const withPassword = { ...server, baseURL: provider.url.replace('//', `//ada:${ENCODED}@`) };
    const token = Buffer.from(`ada:${PASSWORD}`).toString('base64');
    for (const options of [
      { ...server, apiKey: 'plain-key-4711' },
      { ...server, headers: { 'X-Api-Key': 'plain-key-4711' } },
      { ...server, headers: { 'X-Auth': 'Scheme plain-key-4711', 'X-Token-Limit': '1' } },
      { ...server, headers: { 'X-Other': 'plain-key-4711' }, secrets: ['plain-key-4711'] },
      withPassword,
    ]) {
      const llm = openAICompatibleLlm(options);
      const { error } = await read(llm);
      expect(error).toMatchObject({ httpStatus: 401 });
      const seen = inspect(error, { depth: 9 }) + inspect(llm, { depth: 9, showHidden: true });
      expect(seen).toContain('[hidden]');
      expect(seen).toContain('HTTP 401');
      for (const secret of ['plain-key-4711', PASSWORD, ENCODED, token]) {
        expect(seen).not.toContain(secret);
      }
    }
  });
});

describe('options that are wrong', () => {
  test.each<[unknown, string]>([
    [null, 'options: expected an object, got null'],
    [{ ...SERVER, model: ' ' }, 'model: expected the name of a model, got " "'],
    [{ ...SERVER, model: 7 }, 'model: expected the name of a model, got 7'],
    [{ ...SERVER, name: 'a.b' }, `name: expected letters, digits, '-' and '_', got "a.b"`],
    [{ ...SERVER, fetch: 'x' }, 'fetch: expected a function or nothing, got "x"'],
    [{ ...SERVER, headers: [] }, 'headers: expected an object of strings, got an array'],
    [{ ...SERVER, secrets: 'abc' }, 'secrets: expected an array of strings, got something else'],
    [
      { ...SERVER, headers: { a: 1 } },
      'headers["a"]: expected a text that can be sent in a header, got 1',
    ],
    [
      { ...SERVER, headers: { a: 'secret\ntext' } },
      'headers["a"]: expected a text that can be sent in a header, got another name or text',
    ],
    [
      { ...SERVER, timeouts: { idleMs: -1 } },
      'timeouts.idleMs: expected a number of milliseconds, 0 or more, got -1',
    ],
  ])('%j', (options, message) => {
    expect(complaint(options)).toBe(message);
  });

  const keys = ['', 'a b', 'a\nb', 'schlüssel', '“sk-1”'];
  test.each(keys)('the key %j is not shown', (apiKey) => {
    const expected = 'printable ASCII characters without blanks';
    expect(complaint({ ...SERVER, apiKey })).toBe(`apiKey: expected ${expected}, got others`);
  });

  test.each<[unknown, string]>([
    [undefined, 'undefined'],
    ['', '""'],
    ['localhost:11434', 'a text that is no such URL'],
    ['ftp://host/v1', 'a text that is no such URL'],
    ['http://', 'one that cannot be read'],
    ['https://host:99999/v1', 'one that cannot be read'],
    ['sk-4711', 'a text that is no such URL'],
    ['abcdef.s3cret', 'a text that is no such URL'],
    ['ada:s3cret', 'a text that is no such URL'],
    ['ada:s3cret@host', 'a text that is no such URL'],
    ['ftp://ada:s3cret@host', 'a text that is no such URL'],
    ['http://ada:s3cret', 'one that cannot be read'],
    ['http://ada:s3cret@', 'one that cannot be read'],
    ['http://host/v1?key=s3cret', '"http://host/v1"'],
    ['http://ada:s3cret@host/v1/#s3cret', '"http://host/v1"'],
  ])('the base URL %j', (baseURL, came) => {
    const expected = 'an http or https URL without a query';
    expect(complaint({ ...SERVER, baseURL })).toBe(`baseURL: expected ${expected}, got ${came}`);
  });
});
