import { readBaseURL, type BaseURL } from '../base-url.ts';
import type { Environment } from './environment.ts';
import {
  KEYED_PROVIDERS,
  PROVIDERS,
  type KeyedProviderName,
  type ProviderName,
} from './providers.ts';
import { LlmSetupError } from './setup-error.ts';

/** Where a provider is asked, and with which key. */
export interface Endpoint {
  readonly baseURL: BaseURL;
  readonly apiKey: string | null;
}

/** The key of a server that is known by its base URL alone. */
const OWN_KEY = 'CELESTEA_API_KEY';
const { openai } = PROVIDERS;
const OPENAI_BASE_URL = 'OPENAI_BASE_URL';

/** Who can be asked. A key goes to the server it is meant for, and to no other. */
export class Endpoints {
  readonly #environment: Environment;
  /** The option, which wins over every key. */
  readonly #baseURL: BaseURL | null;

  constructor(environment: Environment, baseURL: BaseURL | null) {
    this.#environment = environment;
    this.#baseURL = baseURL;
  }

  /** The provider of models that name none; `null` when there is neither a key nor a base URL. */
  first(): ProviderName | null {
    if (this.#baseURL !== null) return 'local';
    const isSet = (variable: string): boolean => this.#environment.get(variable) !== null;
    const keyed = KEYED_PROVIDERS.find((name) => isSet(PROVIDERS[name].key));
    return keyed ?? (isSet(OPENAI_BASE_URL) ? 'local' : null);
  }

  /** An {@link LlmSetupError} when something is missing. */
  of(name: ProviderName): Endpoint {
    return name === 'local' ? this.#local() : this.#keyed(name);
  }

  #keyed(name: KeyedProviderName): Endpoint {
    const provider = PROVIDERS[name];
    const apiKey = this.#environment.key(provider.key);
    if (apiKey === null) {
      throw new LlmSetupError(`${name} models need a key: set ${provider.key}`);
    }
    return { baseURL: this.#baseURLOf(name), apiKey };
  }

  #baseURLOf(name: KeyedProviderName): BaseURL {
    const { baseURL, baseURLFrom } = PROVIDERS[name];
    const set = baseURLFrom === null ? null : this.#environment.baseURL(baseURLFrom);
    return set ?? { url: baseURL, headers: {}, secrets: [] };
  }

  #local(): Endpoint {
    const baseURL = this.#baseURL ?? this.#environment.baseURL(OPENAI_BASE_URL);
    if (baseURL === null) {
      throw new LlmSetupError(`local models need a base URL: set ${OPENAI_BASE_URL}`);
    }
    return { baseURL, apiKey: this.#keyOf(baseURL) };
  }

  /** OpenAI's key is for the server its own variable names, else for OpenAI. */
  #keyOf({ url }: BaseURL): string | null {
    const own = this.#environment.key(OWN_KEY);
    if (own !== null) return own;
    const home = readBaseURL(this.#environment.get(OPENAI_BASE_URL) ?? openai.baseURL);
    return home?.url === url ? this.#environment.key(openai.key) : null;
  }
}
