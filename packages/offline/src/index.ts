export { OfflineLlm } from './offline-llm.ts';
export type { OfflineLlmOptions } from './offline-llm.ts';
export { offlineLlmPlugin } from './plugin.ts';
