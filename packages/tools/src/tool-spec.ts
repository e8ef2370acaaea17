import type { ToolSpec } from '@celestea/core';

import { isRecord, mismatch } from './shape.ts';

/**
 * A frozen copy of a spec with its three fields (C3.1), so that a later change of the original
 * does not reach the model. Throws a `TypeError` that names the field, what was expected and
 * what came; `owner` stands in front of it.
 */
export function readToolSpec(spec: unknown, owner: string): ToolSpec {
  const fail = (field: string, expected: string, value: unknown): never => {
    throw new TypeError(`${owner}: ${mismatch(field, expected, value)}`);
  };
  if (!isRecord(spec)) {
    return fail('spec', 'an object with name, description and parameters', spec);
  }
  const { name, description, parameters } = spec;
  if (typeof name !== 'string' || !/^\S+$/.test(name)) {
    return fail('name', 'a non-empty string without spaces', name);
  }
  if (typeof description !== 'string') return fail('description', 'a string', description);
  if (!isRecord(parameters)) {
    return fail('parameters', 'a JSON Schema object', parameters);
  }
  return Object.freeze({ name, description, parameters });
}
