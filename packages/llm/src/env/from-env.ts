import { checkAiSdkOptions } from '../ai-sdk/ai-sdk-options.ts';
import { withFallback } from '../fallback.ts';
import { tell } from '../hook.ts';
import type { NamedLlm } from '../named-llm.ts';
import { withRetry, type RetryPolicy } from '../retry.ts';
import { requireBaseURL, type BaseURL } from '../server.ts';
import { ADAPTERS, type Adapters } from './adapters.ts';
import { buildLlm } from './build-llm.ts';
import { Endpoints, type Endpoint } from './endpoints.ts';
import { firstModel } from './first-model.ts';
import { readModelList, readModels, type ModelName } from './model-names.ts';
import { checkOptions, type LlmFromEnvOptions } from './options.ts';
import { KEYED_PROVIDERS, PROVIDERS, readProviderName, type ProviderName } from './providers.ts';
import { LlmSetupError } from './setup-error.ts';

/**
 * The model that the environment asks for, under the name `provider:model`; `null` when there is
 * neither a key nor a base URL, and no model is named. With several models, the name is that of
 * the first, and `onAnswer` tells which one answers. A blank variable counts as not set.
 *
 * | provider    | key                            | base URL             | default model       |
 * | ----------- | ------------------------------ | -------------------- | ------------------- |
 * | `deepseek`  | `DEEPSEEK_API_KEY`             |                      | `deepseek-chat`     |
 * | `openai`    | `OPENAI_API_KEY`               | `OPENAI_BASE_URL`    | `gpt-5-mini`        |
 * | `anthropic` | `ANTHROPIC_API_KEY`            | `ANTHROPIC_BASE_URL` | `claude-sonnet-4-5` |
 * | `google`    | `GOOGLE_GENERATIVE_AI_API_KEY` |                      | `gemini-2.5-flash`  |
 * | `local`     | see below                      | see below            | asked of the server |
 *
 * Who is asked where a name does not say it: the server of the option `baseURL`; else the first
 * provider of the table whose key is set; else the server of `OPENAI_BASE_URL`, which needs no
 * key. A server by itself is `local`: where no model is named, it is asked for
 * `{baseURL}/models`, for at most 10 seconds or the shorter `timeouts.responseMs`, and the first
 * that it names is taken. A model of another provider never stands silently in for the server of
 * the option: that is a `TypeError` where `models` names nobody else, and an `LlmSetupError` where
 * `CELESTEA_MODEL` names one.
 *
 * Each key goes to its own provider alone; that of `openai` is at `OPENAI_BASE_URL` where that is
 * set. A `local` server, that of the option `baseURL` or of `OPENAI_BASE_URL`, is sent
 * `CELESTEA_API_KEY`, which no one else is; without it `OPENAI_API_KEY`, but only where the server
 * is the one of `OPENAI_BASE_URL`, or OpenAI's own when that is not set.
 *
 * Models of `anthropic` and `google` need a package that is installed besides (`@ai-sdk/anthropic`,
 * `@ai-sdk/google`). It is loaded here, so that a missing one is told before there is a turn.
 *
 * Rejects with a `TypeError` that names an option which is wrong, with an `LlmSetupError` when
 * what is asked for cannot be had, and with the reason of `signal`. No key stands in any error.
 *
 * @example
 * const model = await llmFromEnv({ models: ['anthropic:', 'deepseek:deepseek-chat'] });
 * if (model === null) throw new Error('there is neither a key nor a server');
 */
export async function llmFromEnv(options: LlmFromEnvOptions = {}): Promise<NamedLlm | null> {
  return setUpLlm(options, ADAPTERS);
}

const MODELS_FROM = 'CELESTEA_MODEL';

/** What `llmFromEnv` does, with the adapters it may use. */
export async function setUpLlm(
  options: LlmFromEnvOptions,
  adapters: Adapters,
): Promise<NamedLlm | null> {
  checkOptions(options);
  checkAiSdkOptions(options); // before a server is asked for its models
  const url = options.baseURL;
  const baseURL = url === undefined ? null : requireBaseURL('baseURL', url);
  const given = readModels(options.models);
  const endpoints = new Endpoints(options.env ?? process.env, baseURL);
  const listed = endpoints.variable(MODELS_FROM) ?? '';
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
  const [head] = llms; // whose name stands for all of them
  return head === undefined ? null : { name: head.name, llm: withFallback(llms, options) };
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
  const asked = (): string | Promise<string> =>
    provider === 'local'
      ? firstModel(endpoint, options.signal, options.timeouts?.responseMs ?? 0)
      : PROVIDERS[provider].defaultModel;
  const model = named ?? (await asked());
  const name = `${provider}:${model}`;
  const llm = await buildLlm({ provider, model, endpoint }, options, adapters);
  if (options.retry === false) return { name, llm };
  return { name, llm: withRetry(llm, retryPolicy(name, options)) };
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
