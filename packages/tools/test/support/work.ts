import type { WorkTools } from '@celestea/tools';
import type { Tool } from '@celestea/core';

export function toolNamed({ tools }: WorkTools, name: string): Tool {
  const tool = tools.find((each) => each.spec().name === name);
  if (tool === undefined) throw new Error(`there is no ${name}`);
  return tool;
}
