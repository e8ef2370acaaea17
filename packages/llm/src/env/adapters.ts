import type { LanguageModelV3 } from '@ai-sdk/provider';

import type { Fetch } from '../direct-fetch.ts';
import { LlmSetupError } from './setup-error.ts';

/** What an adapter needs to know of its provider. */
export interface AdapterSettings {
  readonly apiKey: string;
  readonly baseURL: string;
  readonly headers: Record<string, string>;
  readonly fetch: Fetch;
}

/** Makes a model of a provider. */
export type ModelMaker = (settings: AdapterSettings, model: string) => LanguageModelV3;

/** An adapter in a package of its own, which is there when somebody installed it. */
export interface Adapter {
  readonly package: string;
  readonly load: () => Promise<ModelMaker>;
}

/** The versions of the packages that fit, as an installation names them. */
const FITTING_VERSION = '3';

export type AdapterName = 'anthropic' | 'google';
export type Adapters = Readonly<Record<AdapterName, Adapter>>;

/* eslint-disable no-restricted-syntax -- they need not be installed, so they load when needed */
export const ADAPTERS: Adapters = {
  anthropic: {
    package: '@ai-sdk/anthropic',
    load: async () => {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return (settings, model) => createAnthropic(settings)(model);
    },
  },
  google: {
    package: '@ai-sdk/google',
    load: async () => {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
      return (settings, model) => createGoogleGenerativeAI(settings)(model);
    },
  },
};
/* eslint-enable no-restricted-syntax */

/** Loads an adapter; an {@link LlmSetupError} says how to install one that cannot be. */
export async function loadAdapter(name: AdapterName, adapters: Adapters): Promise<ModelMaker> {
  const adapter = adapters[name];
  try {
    return await adapter.load();
  } catch (error) {
    const install = `npm install ${adapter.package}@${FITTING_VERSION}`;
    const needed = `${name} models need the package ${adapter.package}`;
    const fault = faultOf(error, adapter.package);
    throw new LlmSetupError(`${needed}, which ${fault}: ${install}`, install);
  }
}

function faultOf(error: unknown, name: string): string {
  if (!(error instanceof Error)) return 'cannot be loaded';
  const isMissing = 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
  // what is not found may also be something that the package itself needs
  if (isMissing && error.message.includes(`'${name}'`)) return 'is not installed';
  return `cannot be loaded (${error.message})`;
}
