/** A provider that wants a key. */
export type KeyedProviderName = 'deepseek' | 'openai' | 'anthropic' | 'google';

/** Whom a model can be asked of; `local` is a server that has nothing but a base URL. */
export type ProviderName = KeyedProviderName | 'local';

/** How a provider is spoken to. */
export interface ProviderTraits {
  readonly adapter: 'openai-compatible' | 'anthropic' | 'google';
  /** Whether it wants the reasoning of a step with calls back. */
  readonly returnReasoning?: true;
  /** `false` where it refuses each request with a picture. */
  readonly pictures?: false;
}

/** A provider, and the variables that say how to reach it. */
export interface Provider extends ProviderTraits {
  /** The variable its key stands in. */
  readonly key: string;
  /** Where its API is, and the variable that says otherwise. */
  readonly baseURL: string;
  readonly baseURLFrom?: string;
  readonly defaultModel: string;
}

/** In the order in which they are looked for. */
export const KEYED_PROVIDERS: readonly KeyedProviderName[] = [
  'deepseek',
  'openai',
  'anthropic',
  'google',
];

export const PROVIDERS: Readonly<Record<KeyedProviderName, Provider>> = {
  deepseek: {
    adapter: 'openai-compatible',
    key: 'DEEPSEEK_API_KEY',
    baseURL: 'https://api.deepseek.com/v1',
    defaultModel: 'deepseek-chat',
    returnReasoning: true,
    pictures: false,
  },
  openai: {
    adapter: 'openai-compatible',
    key: 'OPENAI_API_KEY',
    baseURL: 'https://api.openai.com/v1',
    baseURLFrom: 'OPENAI_BASE_URL',
    defaultModel: 'gpt-5-mini',
  },
  anthropic: {
    adapter: 'anthropic',
    key: 'ANTHROPIC_API_KEY',
    baseURL: 'https://api.anthropic.com/v1',
    baseURLFrom: 'ANTHROPIC_BASE_URL',
    defaultModel: 'claude-sonnet-4-5',
  },
  google: {
    adapter: 'google',
    key: 'GOOGLE_GENERATIVE_AI_API_KEY',
    baseURL: 'https://generativelanguage.googleapis.com/v1beta',
    defaultModel: 'gemini-2.5-flash',
  },
};

/** How a provider is spoken to, and so is a server that is known by its base URL alone. */
export function providerTraits(name: ProviderName): ProviderTraits {
  return name === 'local' ? { adapter: 'openai-compatible' } : PROVIDERS[name];
}

/** A text as the name of a provider; `null` when it is none. */
export function readProviderName(text: string): ProviderName | null {
  if (text === 'local') return text;
  return KEYED_PROVIDERS.find((name) => name === text) ?? null;
}
