import { inspect } from 'node:util';

import type { LlmFromEnvOptions } from '../../src/env/options.ts';
import { llmFromEnv } from '../../src/env/from-env.ts';
import type { NamedLlm } from '../../src/named-llm.ts';

export type Env = Record<string, string | undefined>;

export const DEEPSEEK = { DEEPSEEK_API_KEY: 'deepseek-4711' };
export const OPENAI = { OPENAI_API_KEY: 'openai-4712' };
export const ANTHROPIC = { ANTHROPIC_API_KEY: 'anthropic-4713' };
export const GOOGLE = { GOOGLE_GENERATIVE_AI_API_KEY: 'google-4714' };
export const OWN = { CELESTEA_API_KEY: 'celestea-4715' };
export const ALL = { ...DEEPSEEK, ...OPENAI, ...ANTHROPIC, ...GOOGLE, ...OWN };
/** Where nobody listens. */
export const NOWHERE = 'http://127.0.0.1:1/v1';

/** The model that these options give. */
export async function modelOf(options: LlmFromEnvOptions): Promise<NamedLlm> {
  const model = await llmFromEnv(options);
  if (model === null) throw new Error('no model');
  return model;
}

/** Why there is none. */
export async function failureOf(work: Promise<unknown>): Promise<Error> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof Error) return error;
  throw new Error('it did not fail');
}

/** What of these texts stands in the headers, the path or the body that a server got. */
export const keysIn = (seen: unknown): string[] =>
  Object.values(ALL).filter((key) => inspect(seen, { depth: 9 }).includes(key));
