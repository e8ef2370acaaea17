import type { ToolOutput } from '@celestea/core';
import {
  mcpTools,
  type McpProgress,
  type McpSource,
  type McpTools,
  type McpToolsChange,
  type McpToolsOptions,
} from '@celestea/mcp';
import { DefaultToolRegistry } from '@celestea/tools';

import { atEnd } from './at-end.ts';

/** Tools of a server that is closed after the test. */
export async function open(source: McpSource, options?: McpToolsOptions): Promise<McpTools> {
  const tools = await mcpTools(source, options);
  atEnd(() => tools.close());
  return tools;
}

/** A registry with the tools of a server, and how to call them. */
export async function openRegistry(
  source: McpSource,
  options?: McpToolsOptions,
): Promise<{ mcp: McpTools; registry: DefaultToolRegistry; call: Call }> {
  const mcp = await open(source, options);
  const registry = new DefaultToolRegistry();
  mcp.register(registry);
  let count = 0;
  const call: Call = (name, args = {}, signal) => {
    const input = { call_id: `call-${String((count += 1))}`, name, args };
    return registry.dispatch(input, signal === undefined ? {} : { signal });
  };
  return { mcp, registry, call };
}

export type Call = (name: string, args?: unknown, signal?: AbortSignal) => Promise<ToolOutput>;

/** A text with which something failed. */
export async function failure(promise: Promise<unknown> | undefined): Promise<string> {
  const came = await promise?.then(
    () => null,
    (error: unknown) => error,
  );
  if (came instanceof Error) return came.message;
  throw new Error('expected a failure');
}

/** The next change of the tools. */
export function nextChange(mcp: McpTools): Promise<McpToolsChange> {
  return new Promise((resolve) => {
    const off = mcp.onChange((change) => {
      off();
      resolve(change);
    });
  });
}

/** An `onProgress` that can be waited for. */
export function progressEvents(): {
  onProgress: (progress: McpProgress) => void;
  next: () => Promise<McpProgress>;
} {
  const came: McpProgress[] = [];
  const waiting: ((progress: McpProgress) => void)[] = [];
  return {
    onProgress: (progress) => {
      const first = waiting.shift();
      if (first === undefined) came.push(progress);
      else first(progress);
    },
    next: () => {
      const first = came.shift();
      return first === undefined
        ? new Promise((resolve) => waiting.push(resolve))
        : Promise.resolve(first);
    },
  };
}

/** Waits until something is so, without a clock: looks again in each round of the event loop. */
export async function until(check: () => boolean): Promise<void> {
  while (!check()) await new Promise((resolve) => setImmediate(resolve));
}
