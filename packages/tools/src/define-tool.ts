import type { Tool, ToolCallOptions } from '@celestea/core';

import type { FromSchema } from './from-schema.ts';
import { isRecord, mismatch } from './shape.ts';
import {
  isStandardSchema,
  parseStandard,
  type StandardOutput,
  type StandardSchema,
} from './standard-schema.ts';
import { thrownText } from './thrown.ts';
import { readToolSpec } from './tool-spec.ts';

/** What {@link defineTool} makes a tool from. */
export interface ToolDefinition<Value = unknown, Args = unknown> {
  /** What the model calls it by: non-empty, no spaces. */
  name: string;
  /** What the model is told it is good for. */
  description: string;
  /** The JSON Schema of its arguments. `DefaultToolRegistry` checks them before it runs. */
  parameters: Record<string, unknown>;
  /**
   * Does the work and gives a JSON value, at once or as a promise. A failure is a throw; its
   * message is what the model reads. `options.signal` aborts when nobody waits any more.
   */
  execute: (args: Args, options: ToolCallOptions) => Value | Promise<Value>;
  /** The result in a form for people. One that throws loses the form, not the result. */
  render?(value: Value): string;
}

/** A definition with a literal JSON Schema, from which the type of the arguments is read. */
export interface SchemaToolDefinition<Schema extends Record<string, unknown>, Value = unknown>
  extends ToolDefinition<Value, FromSchema<Schema>> {
  parameters: Schema;
}

/**
 * A definition with a Standard Schema (zod, valibot, arktype, …), which validates and transforms
 * the arguments, wherever the tool runs. What the model is told comes from `parameters`, or else
 * from `toJSONSchema`.
 */
export interface StandardToolDefinition<Schema extends StandardSchema, Value = unknown>
  extends Omit<ToolDefinition<Value, StandardOutput<Schema>>, 'parameters'> {
  schema: Schema;
  parameters?: Record<string, unknown>;
  /** Gives the JSON Schema of what goes in. Called once. */
  toJSONSchema?(schema: Schema): object;
}

/**
 * A {@link Tool} from its parts (C3.5). Throws a `TypeError` that names the field, what was
 * expected and what came.
 *
 * The arguments of `execute` have the type of the JSON Schema when that is written in place or
 * `as const`, or of what `schema` gives. `schema` is always asked; that the arguments fit the
 * JSON Schema is for the registry to see to, as `DefaultToolRegistry` does.
 *
 * @example
 * const double = defineTool({
 *   name: 'double',
 *   description: 'Twice a number.',
 *   parameters: { type: 'object', properties: { of: { type: 'number' } }, required: ['of'] },
 *   execute: ({ of }) => 2 * of,
 * });
 * @example
 * const greet = defineTool({
 *   name: 'greet',
 *   description: 'Says hello.',
 *   schema: z.object({ name: z.string().default('you') }),
 *   toJSONSchema: (schema) => z.toJSONSchema(schema, { io: 'input' }),
 *   execute: ({ name }) => `Hello ${name}`,
 * });
 */
export function defineTool<Schema extends StandardSchema, Value>(
  definition: StandardToolDefinition<Schema, Value>,
): Tool;
export function defineTool<const Schema extends Record<string, unknown>, Value>(
  definition: SchemaToolDefinition<Schema, Value>,
): Tool;
export function defineTool<Value>(definition: ToolDefinition<Value>): Tool;
export function defineTool(definition: AnyDefinition): Tool {
  checkDefinition(definition);
  const { name, description, schema } = definition;
  const parameters = parametersOf(definition);
  const spec = readToolSpec({ name, description, parameters }, 'defineTool');
  // Called on the definition, so that a class instance can be one.
  const execute = async (args: unknown, options: ToolCallOptions = {}): Promise<unknown> =>
    definition.execute(schema === undefined ? args : await parseStandard(schema, args), options);
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

/** Any of the three, as the code sees it: what is checked at run time is no type here. */
interface AnyDefinition {
  name: string;
  description: string;
  schema?: StandardSchema;
  parameters?: Record<string, unknown>;
  toJSONSchema?(schema: StandardSchema): object;
  execute(args: unknown, options: ToolCallOptions): unknown;
  render?(value: unknown): string;
}

function parametersOf(definition: AnyDefinition): unknown {
  const { schema, parameters } = definition;
  if (schema === undefined || parameters !== undefined) return parameters;
  if (definition.toJSONSchema === undefined) {
    const expected = 'the JSON Schema beside schema, or a function toJSONSchema that gives it';
    throw new TypeError(`defineTool: ${mismatch('parameters', expected, parameters)}`);
  }
  try {
    return definition.toJSONSchema(schema);
  } catch (thrown) {
    const text = `expected it to give a JSON Schema, but it threw: ${thrownText(thrown)}`;
    throw new TypeError(`defineTool: toJSONSchema: ${text}`, { cause: thrown });
  }
}

function checkDefinition(definition: unknown): void {
  if (!isRecord(definition)) {
    throw new TypeError(`defineTool: ${mismatch('definition', 'an object', definition)}`);
  }
  const { execute, render, schema, toJSONSchema } = definition;
  if (schema !== undefined && !isStandardSchema(schema)) {
    throw new TypeError(`defineTool: ${mismatch('schema', 'a Standard Schema', schema)}`);
  }
  if (toJSONSchema !== undefined && typeof toJSONSchema !== 'function') {
    const text = mismatch('toJSONSchema', 'a function or nothing', toJSONSchema);
    throw new TypeError(`defineTool: ${text}`);
  }
  if (typeof execute !== 'function') {
    throw new TypeError(`defineTool: ${mismatch('execute', 'a function', execute)}`);
  }
  if (render !== undefined && typeof render !== 'function') {
    throw new TypeError(`defineTool: ${mismatch('render', 'a function or nothing', render)}`);
  }
}

/** The work is done by now, so a form for people that fails must not turn it into a failure. */
function rendered(definition: AnyDefinition, value: unknown): string | null {
  try {
    const text: unknown = definition.render?.(value);
    return typeof text === 'string' ? text : null;
  } catch {
    return null;
  }
}
