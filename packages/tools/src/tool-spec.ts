import { expectThat, isRecord, type ToolSpec } from '@celestea/core';

/**
 * A frozen copy of a spec with its three fields (C3.1), so that a later change of the original
 * does not reach the model. Throws a `TypeError` that names the field, what was expected and
 * what came; `owner` stands in front of it.
 */
export function readToolSpec(spec: unknown, owner: string): ToolSpec {
  const fields = 'an object with name, description and parameters';
  expectThat(isRecord(spec), `${owner}: spec`, fields, spec);
  const { name, description, parameters } = spec;
  const isName = typeof name === 'string' && /^\S+$/.test(name);
  expectThat(isName, `${owner}: name`, 'a non-empty string without spaces', name);
  const isText = typeof description === 'string';
  expectThat(isText, `${owner}: description`, 'a string', description);
  expectThat(isRecord(parameters), `${owner}: parameters`, 'a JSON Schema object', parameters);
  return Object.freeze({ name, description, parameters });
}
