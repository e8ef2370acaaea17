import {
  definePlugin,
  expectThat,
  TOOL_GUARD_SERVICE,
  TOOL_REGISTRY_SERVICE,
  type Plugin,
  type Tool,
  type ToolGuard,
} from '@celestea/core';

import { APPROVAL_SERVICE } from './approval.ts';
import { DefaultToolRegistry } from './registry.ts';

/**
 * A plugin that provides a {@link DefaultToolRegistry} with these tools and guards under
 * `TOOL_REGISTRY_SERVICE` (C5.2, C5.3); each mount makes its own. A guard provided under
 * `TOOL_GUARD_SERVICE` in the scope, or above it, is asked last. It is looked up at each
 * dispatch: a guard must not be skipped because it was provided after the registry. So is who is
 * asked for approval, under `APPROVAL_SERVICE`.
 *
 * Throws a `TypeError` when an argument is no array; mounting throws one for a tool or guard
 * that cannot be used.
 */
export function toolRegistryPlugin(
  tools: readonly Tool[] = [],
  guards: readonly ToolGuard[] = [],
): Plugin {
  for (const [name, list] of Object.entries({ tools, guards })) {
    expectThat(Array.isArray(list), name, 'an array', list);
  }
  const ownTools = [...tools];
  const ownGuards = [...guards];
  return definePlugin('tool-registry', (ctx) => {
    const registry = new DefaultToolRegistry({
      findGuards: () => (ctx.has(TOOL_GUARD_SERVICE) ? [ctx.require(TOOL_GUARD_SERVICE)] : []),
      findApproval: () => ctx.get(APPROVAL_SERVICE) ?? undefined,
    });
    for (const tool of ownTools) registry.register(tool);
    for (const guard of ownGuards) registry.addGuard(guard);
    ctx.provide(TOOL_REGISTRY_SERVICE, registry);
  });
}
