import type { Tool, ToolCallOptions } from '@celestea/core';

import { isRecord, mismatch } from './shape.ts';
import { readToolSpec } from './tool-spec.ts';

/** What {@link defineTool} makes a tool from. */
export interface ToolDefinition<Value = unknown> {
  /** What the model calls it by: non-empty, no spaces. */
  name: string;
  /** What the model is told it is good for. */
  description: string;
  /** The JSON Schema of its arguments. The arguments are NOT checked against it. */
  parameters: Record<string, unknown>;
  /**
   * Does the work and gives a JSON value, at once or as a promise. A failure is a throw; its
   * message is what the model reads. `options.signal` aborts when nobody waits any more.
   */
  execute(args: unknown, options: ToolCallOptions): Value | Promise<Value>;
  /** The result in a form for people. One that throws loses the form, not the result. */
  render?(value: Value): string;
}

/**
 * A {@link Tool} from its parts (C3.5). Throws a `TypeError` that names the field, what was
 * expected and what came.
 *
 * @example
 * const clock = defineTool({
 *   name: 'clock',
 *   description: 'The time now, in milliseconds since 1970.',
 *   parameters: { type: 'object', properties: {} },
 *   execute: () => ({ now: Date.now() }),
 * });
 */
export function defineTool<Value>(definition: ToolDefinition<Value>): Tool {
  checkDefinition(definition);
  const spec = readToolSpec(definition, 'defineTool');
  // Called on the definition, so that a class instance can be one.
  const execute = async (args: unknown, options: ToolCallOptions = {}): Promise<Value> =>
    definition.execute(args, options);
  const tool: Tool = { spec: () => spec, execute };
  if (definition.render === undefined) return tool;
  return {
    ...tool,
    async executeWith(input, options) {
      const value = await execute(input.args, options);
      return { value, render: rendered(definition, value) };
    },
  };
}

function checkDefinition(definition: unknown): void {
  if (!isRecord(definition)) {
    throw new TypeError(`defineTool: ${mismatch('definition', 'an object', definition)}`);
  }
  const { execute, render } = definition;
  if (typeof execute !== 'function') {
    throw new TypeError(`defineTool: ${mismatch('execute', 'a function', execute)}`);
  }
  if (render !== undefined && typeof render !== 'function') {
    throw new TypeError(`defineTool: ${mismatch('render', 'a function or nothing', render)}`);
  }
}

/** The work is done by now, so a form for people that fails must not turn it into a failure. */
function rendered<Value>(definition: ToolDefinition<Value>, value: Value): string | null {
  try {
    const text: unknown = definition.render?.(value);
    return typeof text === 'string' ? text : null;
  } catch {
    return null;
  }
}
