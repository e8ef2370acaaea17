import type { Llm } from '@celestea/core';

import { aiSdkLlm } from '../ai-sdk/ai-sdk-llm.ts';
import type { AiSdkLlmOptions } from '../ai-sdk/ai-sdk-options.ts';
import { directFetch } from '../direct-fetch.ts';
import { openAICompatibleLlm } from '../openai-compatible.ts';
import { loadAdapter, type AdapterName, type Adapters } from './adapters.ts';
import type { Endpoint } from './endpoints.ts';
import { PROVIDERS, type ProviderName } from './providers.ts';

/** Which model of which provider is built. */
export interface BuildPlan {
  readonly provider: ProviderName;
  readonly model: string;
  readonly endpoint: Endpoint;
}

/** A model of a provider; an `LlmSetupError` when the package it needs is missing. */
export async function buildLlm(
  plan: BuildPlan,
  options: Pick<AiSdkLlmOptions, 'attachments' | 'timeouts'>,
  adapters: Adapters,
): Promise<Llm> {
  const { provider } = plan;
  const adapter = provider === 'local' ? 'openai-compatible' : PROVIDERS[provider].adapter;
  switch (adapter) {
    case 'openai-compatible':
      return buildCompatible(plan, options);
    case 'anthropic':
    case 'google':
      return buildAdapted(adapter, plan, options, adapters);
    default:
      return adapter satisfies never;
  }
}

function buildCompatible(
  { provider, model, endpoint }: BuildPlan,
  options: Pick<AiSdkLlmOptions, 'attachments' | 'timeouts'>,
): Llm {
  const { baseURL, apiKey } = endpoint;
  return openAICompatibleLlm({
    ...options,
    baseURL: baseURL.url,
    model,
    name: provider,
    headers: baseURL.headers,
    secrets: baseURL.secrets,
    returnReasoning: provider !== 'local' && PROVIDERS[provider].returnReasoning,
    ...(apiKey === null ? {} : { apiKey }),
  });
}

/** Key and base URL are always given: adapters look for what is missing in the process. */
async function buildAdapted(
  adapter: AdapterName,
  { model, endpoint }: BuildPlan,
  options: Pick<AiSdkLlmOptions, 'attachments' | 'timeouts'>,
  adapters: Adapters,
): Promise<Llm> {
  const make = await loadAdapter(adapter, adapters);
  const { baseURL, apiKey } = endpoint;
  const key = apiKey ?? '';
  const headers = { ...baseURL.headers };
  const settings = { apiKey: key, baseURL: baseURL.url, headers, fetch: directFetch() };
  return aiSdkLlm(make(settings, model), { ...options, secrets: [key, ...baseURL.secrets] });
}
