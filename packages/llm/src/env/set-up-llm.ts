import type { AiSdkLlmOptions } from '../ai-sdk/ai-sdk-options.ts';
import { withFallback } from '../fallback.ts';
import { tell } from '../hook.ts';
import type { NamedLlm } from '../named-llm.ts';
import { withRetry, type RetryPolicy } from '../retry.ts';
import type { Adapters } from './adapters.ts';
import { buildLlm } from './build-llm.ts';
import { Endpoints, type Endpoint } from './endpoints.ts';
import { Environment } from './environment.ts';
import { firstModel } from './first-model.ts';
import { readModelList, readModels, type ModelName } from './model-names.ts';
import { baseURLOption, checkOptions, type LlmFromEnvOptions } from './options.ts';
import { KEYED_PROVIDERS, PROVIDERS, readProviderName, type ProviderName } from './providers.ts';
import { LlmSetupError } from './setup-error.ts';

const MODELS_FROM = 'CELESTEA_MODEL';

/** What `llmFromEnv` does, with the adapters it may use. */
export async function setUpLlm(
  options: LlmFromEnvOptions,
  adapters: Adapters,
): Promise<NamedLlm | null> {
  checkOptions(options);
  const baseURL = baseURLOption(options);
  const given = readModels(options.models);
  const environment = new Environment(options.env ?? process.env);
  const endpoints = new Endpoints(environment, baseURL);
  const listed = environment.get(MODELS_FROM) ?? '';
  const named = given.length > 0 ? given : readModelList(MODELS_FROM, listed);
  const first = endpoints.first();
  if (first === null && named.length === 0) return null;
  const names: readonly ModelName[] =
    named.length > 0 ? named : [{ provider: first, model: null }];
  const llms: NamedLlm[] = [];
  for (const { provider, model } of names) {
    const asked = provider ?? first ?? nobody(model);
    llms.push(await setUpOne(asked, model, endpoints.of(asked), options, adapters));
  }
  return combined(llms, options);
}

async function setUpOne(
  provider: ProviderName,
  named: string | null,
  endpoint: Endpoint,
  options: LlmFromEnvOptions,
  adapters: Adapters,
): Promise<NamedLlm> {
  const model = named ?? (await defaultModel(provider, endpoint, options.signal));
  const name = `${provider}:${model}`;
  const llm = await buildLlm({ provider, model, endpoint }, requestOptions(options), adapters);
  if (options.retry === false) return { name, llm };
  return { name, llm: withRetry(llm, retryPolicy(name, options)) };
}

function defaultModel(
  provider: ProviderName,
  endpoint: Endpoint,
  signal: AbortSignal | undefined,
): string | Promise<string> {
  return provider === 'local' ? firstModel(endpoint, signal) : PROVIDERS[provider].defaultModel;
}

function requestOptions({
  attachments,
  timeouts,
}: LlmFromEnvOptions): Pick<AiSdkLlmOptions, 'attachments' | 'timeouts'> {
  return {
    ...(attachments === undefined ? {} : { attachments }),
    ...(timeouts === undefined ? {} : { timeouts }),
  };
}

/** The policy as it is, whose hook is followed by the one that is told the model's name. */
function retryPolicy(name: string, { retry, onRetry }: LlmFromEnvOptions): RetryPolicy {
  const policy = retry === false || retry === undefined ? {} : retry;
  if (onRetry === undefined) return policy;
  return {
    ...policy,
    onRetry: (notice) => {
      tell(policy.onRetry, notice);
      tell(onRetry, { ...notice, name });
    },
  };
}

/** The first model's name stands for all of them. */
function combined(llms: readonly NamedLlm[], options: LlmFromEnvOptions): NamedLlm | null {
  const [first] = llms;
  if (first === undefined) return null;
  const { onFallback, onAnswer } = options;
  const llm = withFallback(llms, {
    ...(onFallback === undefined ? {} : { onFallback }),
    ...(onAnswer === undefined ? {} : { onAnswer }),
  });
  return { name: first.name, llm };
}

/** A model that is named and cannot be asked is not silently another one. */
function nobody(model: string | null): never {
  const keys = KEYED_PROVIDERS.map((name) => PROVIDERS[name].key).join(', ');
  const text = `nobody can be asked for the model ${JSON.stringify(model)}`;
  const hint = providerHint(model ?? '');
  throw new LlmSetupError(`${text}: set one of ${keys}, or OPENAI_BASE_URL${hint}`);
}

/** What may have been meant by a name that no provider stands before. */
function providerHint(model: string): string {
  const provider = readProviderName(model);
  if (provider !== null) return `; the usual model of ${provider} is "${provider}:"`;
  const names = [...KEYED_PROVIDERS, 'local'].join(', ');
  return model.includes(':') ? `; what may stand before the colon is ${names}` : '';
}
