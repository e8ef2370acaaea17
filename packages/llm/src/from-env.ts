import { ADAPTERS } from './env/adapters.ts';
import type { LlmFromEnvOptions } from './env/options.ts';
import { setUpLlm } from './env/set-up-llm.ts';
import type { NamedLlm } from './named-llm.ts';

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
 * `{baseURL}/models`, for at most 10 seconds, and the first that it names is taken.
 *
 * Each key goes to its own provider alone. `OPENAI_API_KEY` goes to `OPENAI_BASE_URL` where that
 * is set; the server of the option `baseURL` gets it only when it is that same server. For any
 * other, `CELESTEA_API_KEY` is the key, and is sent to no one else.
 *
 * Models of `anthropic` and `google` need a package that is installed besides (`@ai-sdk/anthropic`,
 * `@ai-sdk/google`). It is loaded here, so that a missing one is told before there is a turn.
 *
 * Rejects with a `TypeError` that names an option which is wrong, with an `LlmSetupError` when
 * what is asked for cannot be had, and with the reason of `signal`. No key stands in any error.
 *
 * @example
 * const model = await llmFromEnv({ models: ['anthropic:', 'deepseek:deepseek-chat'] });
 * const llm = model?.llm ?? new OfflineLlm();
 */
export async function llmFromEnv(options: LlmFromEnvOptions = {}): Promise<NamedLlm | null> {
  return setUpLlm(options, ADAPTERS);
}
