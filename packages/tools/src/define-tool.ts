import { expectThat, isRecord, type Tool, type ToolCallOptions } from '@celestea/core';

import type { FromSchema } from './from-schema.ts';
import { atOnce } from './shape.ts';
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
  /** Whether it only reads, see {@link Tool.readOnly}; `false` when left out. */
  readOnly?: boolean;
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
  const tool: Tool = {
    spec: () => spec,
    execute,
    ...(definition.readOnly === true ? { readOnly: true } : {}),
  };
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
  readOnly?: boolean;
}

function parametersOf(definition: AnyDefinition): unknown {
  const { schema, parameters } = definition;
  if (schema === undefined || parameters !== undefined) return parameters;
  const expected = 'the JSON Schema beside schema, or a function toJSONSchema that gives it';
  const isKnown = definition.toJSONSchema !== undefined;
  expectThat(isKnown, 'defineTool: parameters', expected, parameters);
  try {
    return atOnce('toJSONSchema', definition.toJSONSchema?.(schema));
  } catch (thrown) {
    const text = `expected it to give a JSON Schema, but it threw: ${thrownText(thrown)}`;
    throw new TypeError(`defineTool: toJSONSchema: ${text}`, { cause: thrown });
  }
}

function checkDefinition(definition: unknown): void {
  expectThat(isRecord(definition), 'defineTool: definition', 'an object', definition);
  const expectField = (fits: boolean, name: string, expected: string): void => {
    expectThat(fits, `defineTool: ${name}`, expected, definition[name]);
  };
  const { execute, render, schema, toJSONSchema, readOnly } = definition;
  const isFit = (value: unknown, type: string): boolean =>
    value === undefined || typeof value === type;
  expectField(schema === undefined || isStandardSchema(schema), 'schema', 'a Standard Schema');
  expectField(isFit(toJSONSchema, 'function'), 'toJSONSchema', 'a function or nothing');
  expectField(typeof execute === 'function', 'execute', 'a function');
  expectField(isFit(render, 'function'), 'render', 'a function or nothing');
  expectField(isFit(readOnly, 'boolean'), 'readOnly', 'true, false or nothing');
}

/** The work is done by now, so a form for people that fails must not turn it into a failure. */
function rendered(definition: AnyDefinition, value: unknown): string | null {
  try {
    const text: unknown = atOnce('render', definition.render?.(value));
    return typeof text === 'string' ? text : null;
  } catch {
    return null;
  }
}
