import type { LanguageModelV3 } from '@ai-sdk/provider';
import { describeValue, expectThat, isRecord, type Llm } from '@celestea/core';

import { aiSdkLlm } from './ai-sdk/ai-sdk-llm.ts';
import { readSecrets, type AiSdkLlmOptions } from './ai-sdk/ai-sdk-options.ts';
import { returnCallSignatures } from './call-signatures.ts';
import { chatFetch } from './chat-frames.ts';
import { directFetch, type Fetch } from './direct-fetch.ts';
import { requireApiKey, requireBaseURL, signerOf, type BaseURL } from './server.ts';

/** A model behind the chat completions API, which most servers speak. */
export interface OpenAICompatibleOptions extends AiSdkLlmOptions {
  /**
   * Where the API is, up to and with its version: `https://api.deepseek.com/v1`. A user and a
   * password in it are sent as basic authorization, in place of a key.
   */
  readonly baseURL: string;
  /** The model that answers, whatever model a request names. */
  readonly model: string;
  /** Sent as bearer token, and to no other server. Default: none. */
  readonly apiKey?: string;
  /**
   * Under which the options of this server stand in `providerOptions`, and whose `meta` goes
   * back to it (X10). Letters, digits, `-` and `_`. Default `openaiCompatible`.
   */
  readonly name?: string;
  /** Sent with every request; they win over what would be sent otherwise. */
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of the global `fetch`. Redirects are not followed. */
  readonly fetch?: typeof globalThis.fetch;
}

/** What a request is made with. */
interface ServerSettings {
  readonly baseURL: BaseURL;
  readonly model: string;
  readonly name: string;
  readonly headers: Headers;
  readonly fetch: Fetch;
}

/**
 * A model of a server with an OpenAI-compatible API, a local one or a provider's. Nothing is
 * loaded and nothing is sent before the first request; what goes wrong then is an `LlmError`.
 * Neither the key nor any other credential stands in an error.
 *
 * @throws TypeError naming the option that is not what it should be.
 *
 * @example
 * const llm = openAICompatibleLlm({ baseURL: 'http://127.0.0.1:11434/v1', model: 'llama3:8b' });
 */
export function openAICompatibleLlm(options: OpenAICompatibleOptions): Llm {
  const { settings, secrets } = readSettings(options);
  let model: Promise<LanguageModelV3> | null = null;
  const signer = options.signer ?? signerOf(settings.name, settings.baseURL);
  return aiSdkLlm(() => (model ??= loadModel(settings)), { ...options, signer, secrets });
}

async function loadModel(settings: ServerSettings): Promise<LanguageModelV3> {
  const { baseURL, model, name, headers, fetch } = settings;
  // eslint-disable-next-line no-restricted-syntax -- whoever never asks such a model loads nothing
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const provider = createOpenAICompatible({
    baseURL: baseURL.url,
    name,
    headers: Object.fromEntries(headers),
    includeUsage: true,
    fetch: chatFetch(fetch),
    ...(new URL(baseURL.url).host === 'api.openai.com'
      ? { transformRequestBody: renameTokenLimit }
      : {}),
  });
  return returnCallSignatures(provider.chatModel(model));
}

/** OpenAI's reasoning models refuse the old name of the limit; all its models take the new one. */
function renameTokenLimit(body: Record<string, unknown>): Record<string, unknown> {
  const { max_tokens, ...rest } = body;
  return max_tokens === undefined ? rest : { ...rest, max_completion_tokens: max_tokens };
}

function readSettings(options: OpenAICompatibleOptions): {
  settings: ServerSettings;
  secrets: string[];
} {
  expectThat(isRecord(options), 'options', 'an object', options);
  const { model, apiKey, name = 'openaiCompatible', fetch } = options;
  const baseURL = requireBaseURL('baseURL', options.baseURL);
  const isModel = typeof model === 'string' && model.trim() !== '';
  expectThat(isModel, 'model', 'the name of a model', model);
  const key = apiKey === undefined ? null : requireApiKey('apiKey', apiKey);
  const isName = typeof name === 'string' && /^[\w-]+$/.test(name);
  expectThat(isName, 'name', "letters, digits, '-' and '_'", name);
  const isFetch = fetch === undefined || typeof fetch === 'function';
  expectThat(isFetch, 'fetch', 'a function or nothing', fetch);
  const bearer = key === null ? {} : { authorization: `Bearer ${key}` };
  const headers = new Headers({ ...bearer, ...baseURL.headers });
  const added = addHeaders(headers, options.headers);
  const secrets = [key ?? '', ...baseURL.secrets, ...added, ...readSecrets(options.secrets)];
  return { settings: { baseURL, model, name, headers, fetch: directFetch(fetch) }, secrets };
}

/** Gives the values that look like credentials. */
function addHeaders(headers: Headers, added: unknown = {}): string[] {
  expectThat(isRecord(added), 'headers', 'an object of strings', added);
  const secrets: string[] = [];
  for (const [name, value] of Object.entries(added)) {
    try {
      if (typeof value !== 'string') throw new TypeError('no string');
      headers.set(name, value);
    } catch {
      const at = `headers[${describeValue(name)}]`;
      const came = typeof value === 'string' ? 'another name or text' : describeValue(value);
      throw new TypeError(`${at}: expected a text that can be sent in a header, got ${came}`);
    }
    if (/auth|key|token|secret|cookie/i.test(name)) secrets.push(value, value.replace(/^.*\s/, ''));
  }
  // what is shorter says nothing, and would be hidden wherever else it stands
  return secrets.filter(({ length }) => length >= 8);
}
