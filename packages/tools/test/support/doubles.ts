import { defineTool } from '@celestea/tools';
import type { Tool, ToolDecision, ToolGuard, ToolInput } from '@celestea/core';

export const call = (name: string, args: unknown = {}): ToolInput => ({
  call_id: 'call-1',
  name,
  args,
});

export const toolOf = (name: string, execute: () => unknown = () => name): Tool =>
  defineTool({ name, description: `Does ${name}.`, parameters: { type: 'object' }, execute });

export const guardOf = (check: (input: ToolInput) => unknown): ToolGuard => ({
  check: async (input) => (await check(input)) as ToolDecision,
});
