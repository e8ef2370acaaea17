import { API_KEY_EXPECTED, readApiKey } from '../api-key.ts';
import { BASE_URL_EXPECTED, describeBaseURL, readBaseURL, type BaseURL } from '../base-url.ts';
import { LlmSetupError } from './setup-error.ts';

/** Variables as they are read here: without whitespace around them, and a blank one is not set. */
export class Environment {
  readonly #variables: Readonly<Record<string, string | undefined>>;

  constructor(variables: Readonly<Record<string, string | undefined>>) {
    this.#variables = variables;
  }

  /** A variable's text; `null` when it is not set. */
  get(name: string): string | null {
    const value: unknown = this.#variables[name];
    const text = typeof value === 'string' ? value.trim() : '';
    return text === '' ? null : text;
  }

  /** A variable as a key; an {@link LlmSetupError}, which does not show it, when it is none. */
  key(name: string): string | null {
    const text = this.get(name);
    if (text === null) return null;
    const key = readApiKey(text);
    if (key === null) throw new LlmSetupError(`${name}: expected ${API_KEY_EXPECTED}, got others`);
    return key;
  }

  /** A variable as a base URL; an {@link LlmSetupError} when it is none. */
  baseURL(name: string): BaseURL | null {
    const text = this.get(name);
    if (text === null) return null;
    const baseURL = readBaseURL(text);
    if (baseURL !== null) return baseURL;
    throw new LlmSetupError(`${name}: expected ${BASE_URL_EXPECTED}, got ${describeBaseURL(text)}`);
  }
}
