import type { ContractModel } from './contract-model.ts';
import { ANTHROPIC_CONTRACT } from './provider-streams/anthropic-contract.ts';
import { GEMINI_CONTRACT } from './provider-streams/gemini-contract.ts';
import { OPENAI_CONTRACT } from './provider-streams/openai-contract.ts';
import { anthropicProvider, geminiProvider, openAIProvider } from './providers.ts';

export const OPENAI_MODEL: ContractModel = {
  wire: OPENAI_CONTRACT,
  signs: ['calls'],
  llm: openAIProvider.llm,
};

/** One of a server that wants its reasoning back, though nothing signs it. */
export const REASONING_OPENAI_MODEL: ContractModel = {
  wire: OPENAI_CONTRACT,
  signs: ['reasoning', 'calls'],
  llm: (endpoint) => openAIProvider.llm(endpoint, { returnReasoning: true }),
};

export const ANTHROPIC_MODEL: ContractModel = {
  wire: ANTHROPIC_CONTRACT,
  signs: ['reasoning'],
  llm: anthropicProvider.llm,
};

export const GEMINI_MODEL: ContractModel = {
  wire: GEMINI_CONTRACT,
  signs: ['reasoning', 'calls'],
  llm: geminiProvider.llm,
};
