import type { Llm } from '@celestea/core';

import { aiSdkLlm } from '../ai-sdk/ai-sdk-llm.ts';
import type { AiSdkLlmOptions } from '../ai-sdk/ai-sdk-options.ts';
import { directFetch } from '../direct-fetch.ts';
import { openAICompatibleLlm } from '../openai-compatible.ts';
import { signerOf } from '../server.ts';
import { loadAdapter, type Adapters } from './adapters.ts';
import type { Endpoint } from './endpoints.ts';
import { providerTraits, type ProviderName } from './providers.ts';

/** Which model of which provider is built. */
export interface BuildPlan {
  readonly provider: ProviderName;
  readonly model: string;
  readonly endpoint: Endpoint;
}

/** What every model is built with, whoever its provider is. */
export type RequestOptions = Pick<AiSdkLlmOptions, 'attachments' | 'pictures' | 'timeouts'>;

/** A model of a provider; an `LlmSetupError` when the package it needs is missing. */
export async function buildLlm(
  { provider, model, endpoint: { baseURL, apiKey } }: BuildPlan,
  { attachments, pictures, timeouts }: RequestOptions,
  adapters: Adapters,
): Promise<Llm> {
  const traits = providerTraits(provider);
  const { adapter, returnReasoning = false } = traits;
  const options = { attachments, pictures: pictures ?? traits.pictures, timeouts };
  const { url, secrets } = baseURL;
  const headers = { ...baseURL.headers };
  if (adapter === 'openai-compatible') {
    const key = apiKey === null ? {} : { apiKey };
    const server = { baseURL: url, model, name: provider, headers, secrets, ...key };
    return openAICompatibleLlm({ ...options, ...server, returnReasoning });
  }
  const make = await loadAdapter(adapter, adapters);
  // key and base URL are always given: adapters look for what is missing in the process
  const settings = { apiKey: apiKey ?? '', baseURL: url, headers, fetch: directFetch() };
  const hidden = [settings.apiKey, ...secrets];
  const signer = signerOf(adapter, baseURL);
  return aiSdkLlm(make(settings, model), { ...options, signer, secrets: hidden });
}
