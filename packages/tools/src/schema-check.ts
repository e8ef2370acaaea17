import { utf8Length } from '@celestea/core';
import { Ajv, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

import { faultText } from './schema-fault.ts';
import { thrownText } from './thrown.ts';

/** What does not fit, in words, at most a few; empty when the value fits. It never throws. */
export type SchemaCheck = (value: unknown) => readonly string[];

const MAX_FAULTS = 5;
/** The largest schema that is compiled, in bytes of JSON and in levels. */
const MAX_BYTES = 256 * 2 ** 10;
const MAX_DEPTH = 100;
/** A validator keeps what it has compiled; now and then it is left to the collector. */
const MAX_COMPILED = 500;

/** How a schema is read. */
interface Reading {
  readonly draft: '2020-12' | 'draft-07';
  readonly checkPatterns: boolean;
}

/** The part of a validator that is used here; the classes of the two drafts are no relatives. */
interface Validator {
  compile(schema: Record<string, unknown>): ValidateFunction;
}

const shared = new Map<string, { validator: Validator; compiled: number }>();
const checks = new WeakMap<object, SchemaCheck>();
const withoutPatterns = new WeakSet<object>();

/**
 * Has the patterns of a schema, and of nothing else in it, left to whoever wrote it: `pattern` and
 * `patternProperties` are not looked at when arguments are checked. For the schemas of strangers,
 * such as those of an MCP server: a `RegExp` may take years on thirty characters. Gives the very
 * object back, so do this before the tool is registered.
 */
export function leavePatterns<Schema extends object>(schema: Schema): Schema {
  withoutPatterns.add(schema);
  return schema;
}

/**
 * The check of values against a JSON Schema: 2020-12, or draft-07 when `$schema` says so. The
 * same schema object is compiled once, whoever asks. Throws an `Error` that says why when the
 * schema cannot be used. This file alone knows which validator does the work.
 */
export function compileSchema(schema: Record<string, unknown>): SchemaCheck {
  const known = checks.get(schema);
  if (known !== undefined) return known;
  const check = compile(schema, !withoutPatterns.has(schema));
  checks.set(schema, check);
  return check;
}

function compile(schema: Record<string, unknown>, checkPatterns: boolean): SchemaCheck {
  const { $schema: dialect, ...rest } = schema;
  if (rest['$async'] === true) throw new Error('an asynchronous schema is not supported');
  const validate = validatorFor({ draft: draftOf(dialect), checkPatterns }, rest).compile(rest);
  return (value) => {
    try {
      if (validate(value)) return [];
      const faults = (validate.errors ?? []).slice(0, MAX_FAULTS);
      return [...new Set(faults.map(faultText))];
    } catch (thrown) {
      return [`arguments: they could not be checked: ${thrownText(thrown)}`];
    } finally {
      validate.errors = null; // they hold on to the value
    }
  };
}

const draftOf = (dialect: unknown): Reading['draft'] =>
  typeof dialect === 'string' && /\/draft-0[4-7]\//.test(dialect) ? 'draft-07' : '2020-12';

/**
 * Making a validator costs far more than compiling with it, so it is shared; but not by schemas
 * with names of their own, which two tools may use for different things.
 */
function validatorFor(reading: Reading, schema: Record<string, unknown>): Validator {
  if (isDeeper(schema, MAX_DEPTH)) {
    throw new Error(`it is nested deeper than ${String(MAX_DEPTH)} levels`);
  }
  const text = JSON.stringify(schema);
  const bytes = utf8Length(text);
  if (bytes > MAX_BYTES) {
    throw new Error(`it has ${String(bytes)} bytes, more than ${String(MAX_BYTES)}`);
  }
  if (/"\$(?:id|anchor|dynamicAnchor)":/.test(text)) return newValidator(reading);
  const key = JSON.stringify(reading);
  let kept = shared.get(key);
  if (kept === undefined || kept.compiled >= MAX_COMPILED) {
    kept = { validator: newValidator(reading), compiled: 0 };
    shared.set(key, kept);
  }
  kept.compiled += 1;
  return kept.validator;
}

/** A cycle is deeper than any number of levels. */
const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1)));

function newValidator({ draft, checkPatterns }: Reading): Validator {
  const options: Options = {
    strict: false, // a keyword that is not known is no error
    allErrors: true,
    verbose: true, // what does not fit, and to what
    ownProperties: true, // or `toString` is there in every object
    validateFormats: false,
    logger: false,
    // With this, `additionalProperties` takes any name for one that a pattern allows.
    ...(checkPatterns ? {} : { code: { regExp: anything } }),
  };
  const validator = draft === 'draft-07' ? new Ajv(options) : new Ajv2020(options);
  if (checkPatterns) return validator;
  return validator.removeKeyword('patternProperties').addKeyword({
    keyword: 'patternProperties',
    code: ({ it }) => {
      it.props = true; // all of them count as evaluated
    },
  });
}

const anything = Object.assign(() => ({ test: () => true }), { code: 'anything' });
