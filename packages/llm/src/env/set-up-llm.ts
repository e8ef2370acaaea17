import { checkAiSdkOptions } from '../ai-sdk/ai-sdk-options.ts';
import type { BaseURL } from '../base-url.ts';
import { withFallback } from '../fallback.ts';
import { tell } from '../hook.ts';
import type { NamedLlm } from '../named-llm.ts';
import { withRetry, type RetryPolicy } from '../retry.ts';
import type { Adapters } from './adapters.ts';
import { buildLlm, type RequestOptions } from './build-llm.ts';
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
  checkAiSdkOptions(requestOptions(options)); // before a server is asked for its models
  const baseURL = baseURLOption(options);
  const given = readModels(options.models);
  const environment = new Environment(options.env ?? process.env);
  const endpoints = new Endpoints(environment, baseURL);
  const listed = environment.get(MODELS_FROM) ?? '';
  const named = given.length > 0 ? given : readModelList(MODELS_FROM, listed);
  if (baseURL !== null) checkServed(baseURL, given, named);
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

/**
 * A server that is given would silently not be asked, and the question would go to another one,
 * when all the models are of other providers. Beside the option it may have stand-ins, which are
 * named on purpose; a variable was set for something else, and must name none.
 */
function checkServed(
  { url }: BaseURL,
  given: readonly ModelName[],
  named: readonly ModelName[],
): void {
  const other = named.find((name) => !isServed(name));
  if (other === undefined) return;
  const text = JSON.stringify(`${other.provider ?? ''}:${other.model ?? ''}`);
  if (given.length === 0) {
    throw new LlmSetupError(
      `${MODELS_FROM} names ${text}, which is no model of the server ${url} that is to be ` +
        'asked: name one of its own, such as "local:", or leave one of them out',
    );
  }
  if (given.some(isServed)) return;
  throw new TypeError(
    `models: expected one of the server of baseURL, such as "local:", got ${text}`,
  );
}

const isServed = ({ provider }: ModelName): boolean => provider === null || provider === 'local';

async function setUpOne(
  provider: ProviderName,
  named: string | null,
  endpoint: Endpoint,
  options: LlmFromEnvOptions,
  adapters: Adapters,
): Promise<NamedLlm> {
  const model = named ?? (await defaultModel(provider, endpoint, options));
  const name = `${provider}:${model}`;
  const llm = await buildLlm({ provider, model, endpoint }, requestOptions(options), adapters);
  if (options.retry === false) return { name, llm };
  return { name, llm: withRetry(llm, retryPolicy(name, options)) };
}

function defaultModel(
  provider: ProviderName,
  endpoint: Endpoint,
  { signal, timeouts }: LlmFromEnvOptions,
): string | Promise<string> {
  if (provider !== 'local') return PROVIDERS[provider].defaultModel;
  return firstModel(endpoint, signal, timeouts?.responseMs ?? 0);
}

function requestOptions({ attachments, pictures, timeouts }: LlmFromEnvOptions): RequestOptions {
  return {
    ...(attachments === undefined ? {} : { attachments }),
    ...(pictures === undefined ? {} : { pictures }),
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
