import type { JSONObject, SharedV3ProviderOptions } from '@ai-sdk/provider';
import { expectThat, isRecord } from '@celestea/core';

import type { AttachmentReader, PictureSource } from './pictures.ts';

/** How an AI SDK model is asked. Everything may be left out. */
export interface AiSdkLlmOptions {
  /** The bytes of pictures; without it, and for one it has not got, the model gets a note. */
  readonly attachments?: AttachmentReader | undefined;
  /**
   * Whether the model can see pictures. Many servers refuse a request with one otherwise, and
   * with it every later turn of the session; `false` makes a note of each. Default: true.
   */
  readonly pictures?: boolean | undefined;
  /** What each request hands to the provider besides, under the provider's name. */
  readonly providerOptions?: Readonly<Record<string, JSONObject>>;
  /**
   * Limits in milliseconds, 0 or absent for none: of the wait for the answer's beginning, and of
   * each silence in it. One that runs out is an `LlmError` of the kind `timeout`.
   */
  readonly timeouts?: { readonly responseMs?: number; readonly idleMs?: number } | undefined;
  /**
   * Whose signatures these are: what it signed goes back to it and to no other (X10). Default:
   * the `provider` of the model, which is the same for all servers that one adapter asks.
   */
  readonly signer?: string;
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
  readonly attachments: PictureSource;
  readonly providerOptions: SharedV3ProviderOptions | undefined;
  readonly responseMs: number;
  readonly idleMs: number;
  readonly signer: string | undefined;
  readonly secrets: readonly string[];
  readonly returnReasoning: boolean;
}

/** @throws TypeError naming the option that is not what it should be */
export function checkAiSdkOptions(options: AiSdkLlmOptions): CheckedOptions {
  expectObject('options', options);
  const { attachments, providerOptions, timeouts = {}, signer, secrets } = options;
  const { pictures = true, returnReasoning = false } = options;
  const isReader = isRecord(attachments) && typeof attachments.read === 'function';
  const isReaderOrNone = attachments === undefined || isReader;
  expectThat(isReaderOrNone, 'attachments', 'an object with a read function', attachments);
  if (providerOptions !== undefined) expectObject('providerOptions', providerOptions);
  expectObject('timeouts', timeouts);
  const isSigner = signer === undefined || (typeof signer === 'string' && signer !== '');
  expectThat(isSigner, 'signer', 'a name', signer);
  expectFlag('pictures', pictures);
  expectFlag('returnReasoning', returnReasoning);
  return {
    attachments: pictures ? attachments : 'unseen',
    providerOptions,
    responseMs: checkLimit('timeouts.responseMs', timeouts.responseMs),
    idleMs: checkLimit('timeouts.idleMs', timeouts.idleMs),
    signer,
    secrets: readSecrets(secrets),
    returnReasoning,
  };
}

/** The option `secrets`. What came is not shown, not even where it is none. */
export function readSecrets(secrets: unknown = []): readonly string[] {
  const isList = Array.isArray(secrets) && secrets.every((secret) => typeof secret === 'string');
  if (isList) return secrets;
  throw new TypeError('secrets: expected an array of strings, got something else');
}

function checkLimit(name: string, value = 0): number {
  const isLimit = Number.isFinite(value) && value >= 0;
  expectThat(isLimit, name, 'a number of milliseconds, 0 or more', value);
  return value;
}

const expectFlag = (name: string, value: unknown): void => {
  expectThat(typeof value === 'boolean', name, 'true or false', value);
};

const expectObject = (name: string, value: unknown): void => {
  expectThat(isRecord(value), name, 'an object', value);
};
