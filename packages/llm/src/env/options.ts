import { expectThat, isRecord } from '@celestea/core';

import type { AiSdkLlmOptions } from '../ai-sdk/ai-sdk-options.ts';
import type { FallbackNotice } from '../fallback.ts';
import { expectHook } from '../hook.ts';
import type { RetryNotice, RetryPolicy } from '../retry.ts';

/** How a model is set up from the environment. Everything may be left out. */
export interface LlmFromEnvOptions {
  /** The variables. Default: those of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * The models by name, `[provider:]model`. The first answers; the others stand in for it, in
   * order. A name without a provider goes to the first provider found, and `anthropic:` alone
   * is the default model of that provider. Default, and for an empty array: `CELESTEA_MODEL`,
   * where commas stand between the names, else the default model of the first provider found.
   */
  readonly models?: readonly string[];
  /**
   * Where an OpenAI-compatible server is, which wins over every key. Needs no key itself. Beside
   * it, one of the models at least has to be the server's own, `local:` or without a provider.
   */
  readonly baseURL?: string;
  /** The bytes of pictures; see `AiSdkLlmOptions`. */
  readonly attachments?: NonNullable<AiSdkLlmOptions['attachments']>;
  /** Whether the models can see pictures. Default: what is known of each provider. */
  readonly pictures?: boolean;
  /**
   * Limits of each request in milliseconds; see `AiSdkLlmOptions`. `responseMs` also limits the
   * wait for a server that is asked which models it has.
   */
  readonly timeouts?: NonNullable<AiSdkLlmOptions['timeouts']>;
  /** How each model is retried before the next one stands in; `false` for not at all. */
  readonly retry?: RetryPolicy | false;
  /** Told before each further try, after the policy's own `onRetry`; what it throws is ignored. */
  readonly onRetry?: (notice: RetryNotice & { readonly name: string }) => void;
  /** Told before another model stands in; what it throws is ignored. */
  readonly onFallback?: (notice: FallbackNotice) => void;
  /** Told which model answers, once a request; what it throws is ignored. */
  readonly onAnswer?: (name: string) => void;
  /** Ends the setting up, which may have to ask a server for its models; not what comes after. */
  readonly signal?: AbortSignal;
}

/** Checks what nothing else does; a `TypeError` names the option that is wrong. */
export function checkOptions(options: LlmFromEnvOptions): void {
  expectThat(isRecord(options), 'options', 'an object', options);
  const { env, retry, onRetry, onFallback, onAnswer, signal } = options;
  expectThat(env === undefined || isRecord(env), 'env', 'an object of strings', env);
  const isPolicy = retry === undefined || retry === false || isRecord(retry);
  expectThat(isPolicy, 'retry', 'an object such as { retries: 2 }, or false', retry);
  expectHook('onRetry', onRetry);
  expectHook('onFallback', onFallback);
  expectHook('onAnswer', onAnswer);
  const isSignal = signal === undefined || signal instanceof AbortSignal;
  expectThat(isSignal, 'signal', 'an AbortSignal', signal);
}
