import { describeValue, expectThat } from '@celestea/core';

import { readProviderName, type ProviderName } from './providers.ts';
import { LlmSetupError } from './setup-error.ts';

/** A model that is asked for. */
export interface ModelName {
  /** `null` is the first provider found. */
  readonly provider: ProviderName | null;
  /** `null` is the provider's default. */
  readonly model: string | null;
}

const EXPECTED = 'the name of a model, "[provider:]model"';

/**
 * The provider that a model's name, `[provider:]model`, begins with; `null` when it names none.
 * Names of models hold colons as well: what stands before one counts when it is a provider's.
 */
export function modelProvider(name: string): ProviderName | null {
  const colon = name.indexOf(':');
  return colon === -1 ? null : readProviderName(name.slice(0, colon).trim());
}

/** The models of the option; a `TypeError` names the one that cannot be read. */
export function readModels(models: unknown = []): ModelName[] {
  expectThat(Array.isArray(models), 'models', 'an array of strings', models);
  return models.map((text: unknown, index) => {
    const name = readModelName(text);
    expectThat(name !== null, `models[${String(index)}]`, EXPECTED, text);
    return name;
  });
}

/** The models of a variable, between commas. */
export function readModelList(variable: string, text: string): ModelName[] {
  const parts = text.split(',').filter((part) => part.trim() !== '');
  return parts.map((part) => {
    const name = readModelName(part);
    if (name !== null) return name;
    throw new LlmSetupError(`${variable}: expected ${EXPECTED}, got ${describeValue(part)}`);
  });
}

function readModelName(text: unknown): ModelName | null {
  const name = typeof text === 'string' ? text.trim() : text;
  if (!isModelName(name)) return null;
  const provider = modelProvider(name);
  if (provider === null) return { provider, model: name };
  const model = name.slice(name.indexOf(':') + 1).trim();
  return { provider, model: model === '' ? null : model };
}

/** Whether a text can be a model's name: it says something, and would not garble what shows it. */
export function isModelName(text: unknown): text is string {
  return typeof text === 'string' && text.trim() !== '' && !/\p{C}/u.test(text);
}
