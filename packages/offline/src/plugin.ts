import { definePlugin, LLM_SERVICE, type Plugin } from '@celestea/core';

import { OfflineLlm, type OfflineLlmOptions } from './offline-llm.ts';

/**
 * Provides an {@link OfflineLlm} under `LLM_SERVICE`; the scopes it is mounted in share it.
 *
 * @throws TypeError naming the invalid option.
 * @example
 * mountPlugins(Context.root(), [offlineLlmPlugin({ delayMs: 8 })]);
 */
export function offlineLlmPlugin(options: OfflineLlmOptions = {}): Plugin {
  const llm = new OfflineLlm(options);
  return definePlugin('celestea.llm.offline', (ctx) => {
    ctx.provide(LLM_SERVICE, llm);
  });
}
