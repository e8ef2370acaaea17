export { aiSdkLlm } from './ai-sdk/ai-sdk-llm.ts';
export type { AiSdkModel } from './ai-sdk/ai-sdk-llm.ts';
export type { AiSdkLlmOptions } from './ai-sdk/ai-sdk-options.ts';
export type { AttachmentReader } from './ai-sdk/pictures.ts';
export type { NamedLlm } from './named-llm.ts';
export { OfflineLlm } from './offline/offline-llm.ts';
export type { OfflineLlmOptions } from './offline/offline-llm.ts';
export { offlineLlmPlugin } from './offline/plugin.ts';
