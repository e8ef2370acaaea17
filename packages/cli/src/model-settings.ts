import { shown, type Given } from './options.ts';

/** Which model answers, as the command line says it. */
export interface ModelSettings {
  /** `[provider:]model` each: the first answers, the others are asked in order when it fails. */
  readonly models: readonly string[];
  /** A server that is spoken to as to OpenAI's; `null` for that of the provider. */
  readonly baseUrl: string | null;
  /** The offline model, also when a key is set. */
  readonly offline: boolean;
}

/** Notes what is wrong with the options among the errors. */
export function readModelSettings({ flags, values, lists, errors }: Given): ModelSettings {
  const models = lists.get('model') ?? [];
  const baseUrl = values.get('base-url') ?? null;
  const offline = flags.has('offline');
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
  }
  if (offline && (models.length > 0 || baseUrl !== null)) {
    const other = models.length > 0 ? '--model' : '--base-url';
    errors.push(`--offline: expected neither --model nor --base-url, got ${other}`);
  }
  return { models, baseUrl, offline };
}

/** The name of a model says something, and does not garble what shows it. */
const isModelName = (text: string): boolean => text.trim() !== '' && !/\p{C}/u.test(text);

/** What stands in a URL may be a secret, so that one that is wrong is not shown. */
function urlProblem(text: string): string | null {
  if (text.trim() === '') return 'an empty text';
  if (!/^\s*https?:\/\//i.test(text)) return /[@?#]/.test(text) ? 'something else' : shown(text);
  if (!URL.canParse(text)) return 'one that cannot be read';
  const { search, hash } = new URL(text);
  if (search !== '') return 'one with a query';
  return hash === '' ? null : 'one with a fragment';
}
