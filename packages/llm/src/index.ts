export { OfflineLlm } from './offline/offline-llm.ts';
export type { OfflineLlmOptions } from './offline/offline-llm.ts';
export { offlineLlmPlugin } from './offline/plugin.ts';
