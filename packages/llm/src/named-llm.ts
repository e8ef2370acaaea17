import { expectThat, isRecord, type Llm } from '@celestea/core';

/** A model and what people know it by. */
export interface NamedLlm {
  readonly name: string;
  readonly llm: Llm;
}

/** Refuses what is no model. */
export function expectLlm(name: string, came: unknown): void {
  const fits = isRecord(came) && typeof came['generate'] === 'function';
  expectThat(fits, name, 'a model, an object with generate', came);
}
