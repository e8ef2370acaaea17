import type { ToolRegistry } from '@celestea/core';
import { askBefore, DefaultToolRegistry, defineTool } from '@celestea/tools';

import type { ApprovalDesk } from '../../../src/index.ts';

/** Tools as functions; calls of those in `ask` wait for an approval, for that reason. */
export function toolSet(
  tools: Readonly<Record<string, (args: Record<string, unknown>) => unknown>>,
  ask: readonly string[] = [],
  reason = 'it changes files',
): (desk: ApprovalDesk) => ToolRegistry {
  return (desk) => {
    const registry = new DefaultToolRegistry({ findApproval: () => desk });
    for (const [name, execute] of Object.entries(tools)) {
      const parameters: Record<string, unknown> = { type: 'object' };
      const run = (args: unknown): unknown => execute(args as Record<string, unknown>);
      registry.register(defineTool({ name, description: name, parameters, execute: run }));
    }
    registry.addGuard(askBefore(ask, reason));
    return registry;
  };
}
