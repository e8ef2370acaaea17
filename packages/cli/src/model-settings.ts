import { modelProvider } from '@celestea/llm';

import { shown, type Given } from './options.ts';

/** Which model answers, as the command line says it. */
export interface ModelSettings {
  /** `[provider:]model` each: the first answers, the others are asked in order when it fails. */
  readonly models: readonly string[];
  /** A server that is spoken to as to OpenAI's; `null` for that of the provider. */
  readonly baseUrl: string | null;
  /** The offline model, also when a key is set. */
  readonly offline: boolean;
  /** Whether pictures are sent; else the model is told of them in words. */
  readonly images: boolean;
}

/** Notes what is wrong with the options among the errors. */
export function readModelSettings({ flags, values, lists, errors }: Given): ModelSettings {
  const models = lists.get('model') ?? [];
  const baseUrl = values.get('base-url') ?? null;
  const offline = flags.has('offline');
  const images = !flags.has('no-images');
  const wrong = models.find((model) => !isModelName(model));
  if (wrong !== undefined) {
    const came = wrong.trim() === '' ? 'an empty text' : shown(wrong);
    errors.push(`--model: expected the name of a model, got ${came}`);
  }
  if (baseUrl !== null) {
    const problem = urlProblem(baseUrl);
    if (problem !== null) {
      errors.push(`--base-url: expected an http or https URL without a query, got ${problem}`);
    }
    const [first] = models;
    if (first !== undefined && !models.some(isServed)) {
      const expected = 'a --model of that server, such as local: or a name without a provider';
      errors.push(`--base-url: expected ${expected}, got ${shown(first)}`);
    }
  }
  if (offline && (models.length > 0 || baseUrl !== null)) {
    const other = models.length > 0 ? '--model' : '--base-url';
    errors.push(`--offline: expected neither --model nor --base-url, got ${other}`);
  }
  if (!images && lists.has('image')) errors.push('--no-images: expected no --image, got one');
  return { models, baseUrl, offline, images };
}

/** Whether the server of `--base-url` is asked for it, and not another provider. */
function isServed(model: string): boolean {
  const provider = modelProvider(model);
  return provider === null || provider === 'local';
}

/** The name of a model says something, and does not garble what shows it. */
const isModelName = (text: string): boolean => text.trim() !== '' && !/\p{C}/u.test(text);

/** What is wrong is not shown: it may hold a secret, or be a key in the wrong place. */
function urlProblem(text: string): string | null {
  if (text.trim() === '') return 'an empty text';
  if (!/^\s*https?:\/\//i.test(text)) return 'a text that is no such URL';
  if (!URL.canParse(text)) return 'one that cannot be read';
  const { search, hash } = new URL(text);
  if (search !== '') return 'one with a query';
  return hash === '' ? null : 'one with a fragment';
}
