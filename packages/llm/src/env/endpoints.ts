import { readBaseURL, requireApiKey, requireBaseURL, type BaseURL } from '../server.ts';
import { KEYED_PROVIDERS, PROVIDERS, type ProviderName } from './providers.ts';
import { LlmSetupError } from './setup-error.ts';

/** Where a provider is asked, and with which key. */
export interface Endpoint {
  readonly baseURL: BaseURL;
  readonly apiKey: string | null;
}

/** The key of a server that is known by its base URL alone. */
const OWN_KEY = 'CELESTEA_API_KEY';
const OPENAI_BASE_URL = 'OPENAI_BASE_URL';

/** Who can be asked. A key goes to the server it is meant for, and to no other. */
export class Endpoints {
  readonly #variables: Readonly<Record<string, string | undefined>>;
  /** The option, which wins over every key. */
  readonly #baseURL: BaseURL | null;

  constructor(variables: Readonly<Record<string, string | undefined>>, baseURL: BaseURL | null) {
    this.#variables = variables;
    this.#baseURL = baseURL;
  }

  /** A variable without whitespace around it; `null` when it is not set, or blank. */
  variable(name: string): string | null {
    const value: unknown = this.#variables[name];
    const text = typeof value === 'string' ? value.trim() : '';
    return text === '' ? null : text;
  }

  /** The provider of models that name none; `null` when there is neither a key nor a base URL. */
  first(): ProviderName | null {
    if (this.#baseURL !== null) return 'local';
    const keyed = KEYED_PROVIDERS.find((name) => this.variable(PROVIDERS[name].key) !== null);
    return keyed ?? (this.variable(OPENAI_BASE_URL) === null ? null : 'local');
  }

  /** An {@link LlmSetupError} when something is missing, or is no key or no base URL. */
  of(name: ProviderName): Endpoint {
    if (name === 'local') return this.#local();
    const { key, baseURL: url, baseURLFrom } = PROVIDERS[name];
    const apiKey = this.#key(key);
    if (apiKey === null) throw new LlmSetupError(`${name} models need a key: set ${key}`);
    const baseURL = baseURLFrom === undefined ? null : this.#baseURLFrom(baseURLFrom);
    return { baseURL: baseURL ?? { url, headers: {}, secrets: [] }, apiKey };
  }

  /** OpenAI's key is for the server its own variable names, else for OpenAI. */
  #local(): Endpoint {
    const baseURL = this.#baseURL ?? this.#baseURLFrom(OPENAI_BASE_URL);
    if (baseURL === null) {
      throw new LlmSetupError(`local models need a base URL: set ${OPENAI_BASE_URL}`);
    }
    const { openai } = PROVIDERS;
    const home = readBaseURL(this.variable(OPENAI_BASE_URL) ?? openai.baseURL);
    const isHome = home?.url === baseURL.url;
    return { baseURL, apiKey: this.#key(OWN_KEY) ?? (isHome ? this.#key(openai.key) : null) };
  }

  #key(name: string): string | null {
    const text = this.variable(name);
    return text === null ? null : requireApiKey(name, text, LlmSetupError);
  }

  #baseURLFrom(name: string): BaseURL | null {
    const text = this.variable(name);
    return text === null ? null : requireBaseURL(name, text, LlmSetupError);
  }
}
