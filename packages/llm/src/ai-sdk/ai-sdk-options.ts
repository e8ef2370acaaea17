import type { JSONObject, SharedV3ProviderOptions } from '@ai-sdk/provider';
import { describeValue, isRecord } from '@celestea/core';

import type { AttachmentReader } from './pictures.ts';

/** How an AI SDK model is asked. Everything may be left out. */
export interface AiSdkLlmOptions {
  /** The bytes of pictures; without it, and for one it has not got, the model gets a note. */
  readonly attachments?: AttachmentReader;
  /** What each request hands to the provider besides, under the provider's name. */
  readonly providerOptions?: Readonly<Record<string, JSONObject>>;
  /**
   * Limits in milliseconds, 0 or absent for none: of the wait for the answer's beginning, and of
   * each silence in it. One that runs out is an `LlmError` of the kind `timeout`.
   */
  readonly timeouts?: { readonly responseMs?: number; readonly idleMs?: number };
  /** Texts that never stand in an error, such as the key. */
  readonly secrets?: readonly string[];
  /**
   * Whether reasoning goes back though nothing signs it, with the calls it led to. Some
   * providers refuse the next request of a tool loop without it. Default: false.
   */
  readonly returnReasoning?: boolean;
}

/** The same, checked and complete. */
export interface CheckedOptions {
  readonly attachments: AttachmentReader | undefined;
  readonly providerOptions: SharedV3ProviderOptions | undefined;
  readonly responseMs: number;
  readonly idleMs: number;
  readonly secrets: readonly string[];
  readonly returnReasoning: boolean;
}

/** @throws TypeError naming the option that is not what it should be */
export function checkAiSdkOptions(options: AiSdkLlmOptions): CheckedOptions {
  if (!isObject(options)) throw mistake('options', 'an object', options);
  const {
    attachments,
    providerOptions,
    timeouts = {},
    secrets = [],
    returnReasoning = false,
  } = options;
  if (
    attachments !== undefined &&
    !(isObject(attachments) && typeof attachments.read === 'function')
  ) {
    throw mistake('attachments', 'an object with a read function', attachments);
  }
  if (providerOptions !== undefined && !isObject(providerOptions)) {
    throw mistake('providerOptions', 'an object', providerOptions);
  }
  if (!isObject(timeouts)) throw mistake('timeouts', 'an object', timeouts);
  if (!Array.isArray(secrets) || !secrets.every((secret) => typeof secret === 'string')) {
    // the value is not shown: it is a secret
    throw new TypeError('secrets: expected a list of texts');
  }
  if (typeof returnReasoning !== 'boolean') {
    throw mistake('returnReasoning', 'true or false', returnReasoning);
  }
  return {
    attachments,
    providerOptions,
    responseMs: checkLimit('timeouts.responseMs', timeouts.responseMs),
    idleMs: checkLimit('timeouts.idleMs', timeouts.idleMs),
    secrets,
    returnReasoning,
  };
}

function checkLimit(name: string, value: number | undefined): number {
  if (value === undefined) return 0;
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
    throw mistake(name, 'a number of milliseconds, 0 or more', value);
  }
  return value;
}

const isObject = (value: unknown): boolean => isRecord(value);

const mistake = (name: string, expected: string, came: unknown): TypeError =>
  new TypeError(`${name}: expected ${expected}, got ${describeValue(came)}`);
