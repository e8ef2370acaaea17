import { ADAPTERS } from './adapters.ts';
import type { LlmFromEnvOptions } from './options.ts';
import { setUpLlm } from './set-up-llm.ts';
import type { NamedLlm } from '../named-llm.ts';

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
