import type { Llm } from '@celestea/core';

import { aiSdkLlm } from '../ai-sdk/ai-sdk-llm.ts';
import type { AiSdkLlmOptions } from '../ai-sdk/ai-sdk-options.ts';
import { directFetch } from '../direct-fetch.ts';
import { openAICompatibleLlm } from '../openai-compatible.ts';
import { signerOf } from '../signer.ts';
import { loadAdapter, type AdapterName, type Adapters } from './adapters.ts';
import type { Endpoint } from './endpoints.ts';
import { LOCAL, PROVIDERS, type ProviderName } from './providers.ts';

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
  plan: BuildPlan,
  options: RequestOptions,
  adapters: Adapters,
): Promise<Llm> {
  const { provider } = plan;
  const known = provider === 'local' ? LOCAL : PROVIDERS[provider];
  const { adapter } = known;
  const all = { pictures: known.pictures, ...options };
  switch (adapter) {
    case 'openai-compatible':
      return buildCompatible(plan, { ...all, returnReasoning: known.returnReasoning });
    case 'anthropic':
    case 'google':
      return buildAdapted(adapter, plan, all, adapters);
    default:
      return adapter satisfies never;
  }
}

function buildCompatible(
  { provider, model, endpoint }: BuildPlan,
  options: RequestOptions & Pick<AiSdkLlmOptions, 'returnReasoning'>,
): Llm {
  const { baseURL, apiKey } = endpoint;
  return openAICompatibleLlm({
    ...options,
    baseURL: baseURL.url,
    model,
    name: provider,
    headers: baseURL.headers,
    secrets: baseURL.secrets,
    ...(apiKey === null ? {} : { apiKey }),
  });
}

/** Key and base URL are always given: adapters look for what is missing in the process. */
async function buildAdapted(
  adapter: AdapterName,
  { model, endpoint }: BuildPlan,
  options: RequestOptions,
  adapters: Adapters,
): Promise<Llm> {
  const make = await loadAdapter(adapter, adapters);
  const { baseURL, apiKey } = endpoint;
  const key = apiKey ?? '';
  const headers = { ...baseURL.headers };
  const settings = { apiKey: key, baseURL: baseURL.url, headers, fetch: directFetch() };
  const secrets = [key, ...baseURL.secrets];
  return aiSdkLlm(make(settings, model), { ...options, signer: signerOf(adapter, baseURL), secrets });
}
