import type { Llm } from '@celestea/core';

/** A model and what people know it by. */
export interface NamedLlm {
  readonly name: string;
  readonly llm: Llm;
}
