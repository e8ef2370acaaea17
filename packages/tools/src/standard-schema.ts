import { isRecord } from '@celestea/core';

import { cutText } from './text.ts';

/**
 * A schema of any library that follows Standard Schema (zod, valibot, arktype, …), as far as it
 * is used here: https://standardschema.dev describes the whole.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (
      value: unknown,
    ) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** Never there at run time. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What validating gives: the value, which may have been transformed, or what is wrong. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a {@link StandardSchema} gives for what it accepts. */
export type StandardOutput<Schema extends StandardSchema> =
  Schema extends StandardSchema<unknown, infer Output> ? Output : never;

const MAX_ISSUES = 5;
const MAX_ISSUE = 400;

/** Some libraries make a schema a function. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if (!isRecord(value) && typeof value !== 'function') return false;
  const standard: unknown = Reflect.get(value, '~standard');
  return isRecord(standard) && typeof standard['validate'] === 'function';
}

/** The validated, transformed value. Throws an `Error` that says where and what is wrong. */
export async function parseStandard<Output>(
  schema: StandardSchema<unknown, Output>,
  value: unknown,
): Promise<Output> {
  const result = await schema['~standard'].validate(value);
  if (result.issues === undefined) return result.value;
  const issues = result.issues.slice(0, MAX_ISSUES).map(issueText);
  throw new Error(`not run, the arguments do not fit: ${issues.join('\n')}`);
}

function issueText({ message, path = [] }: StandardIssue): string {
  const where = path
    .map((step) => String(typeof step === 'object' ? step.key : step))
    .join('.');
  return cutText(`${where === '' ? 'arguments' : where}: ${message}`, MAX_ISSUE);
}
