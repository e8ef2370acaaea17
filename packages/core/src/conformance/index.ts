export type { ContractAssert, ContractFramework } from './framework.ts';
export { llmContract } from './llm.ts';
export type { LlmUnderTest } from './llm.ts';
export { LLM_CONTRACT_REPLIES, LLM_SCENARIOS } from './llm-replies.ts';
export type {
  LlmContractAnswer,
  LlmContractRefusal,
  LlmContractReply,
  LlmContractSilence,
  LlmContractTear,
  LlmScenario,
} from './llm-replies.ts';
export { sessionLogContract } from './session-log.ts';
export type { SessionLogUnderTest } from './session-log.ts';
export { toolRegistryContract } from './tool-registry.ts';
export type { ToolRegistryUnderTest } from './tool-registry.ts';
export type { ToolRegistryPart } from './tool-registry-kit.ts';
