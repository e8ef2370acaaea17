import { serdeJsonString } from '@celestea/core';
import { Ajv, type Options, type SchemaValidateFunction, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

import { LinearPattern, StepBudget } from './pattern.ts';
import { faultText } from './schema-fault.ts';
import { unfoldedSize } from './schema-size.ts';
import { cutText } from './text.ts';
import { thrownText } from './thrown.ts';

/** What does not fit, in words, at most a few; empty when the value fits. It never throws. */
export type SchemaCheck = (value: unknown) => readonly string[];

const MAX_FAULTS = 5;
/** How many schemas one may come to with its references followed, as a check follows them. */
const MAX_UNFOLDED = 100_000;
/** From a schema larger than this on, a check ends at the first fault: there may be too many. */
const MAX_FOR_ALL_FAULTS = 1_000;
const MAX_SCHEMA_ERROR = 500;
/** What the patterns of one check may cost: a fraction of a second. */
const MAX_PATTERN_STEPS = 10_000_000;
/** A validator keeps what it has compiled; now and then it is left to the collector. */
const MAX_COMPILED = 500;

type Draft = '2020-12' | 'draft-07';

/** The part of a validator that is used here; the classes of the two drafts are no relatives. */
interface Validator {
  compile(schema: Record<string, unknown>): ValidateFunction;
}

const budget = new StepBudget(MAX_PATTERN_STEPS);
const shared = new Map<string, { validator: Validator; compiled: number }>();
const checks = new WeakMap<object, SchemaCheck>();

/**
 * The check of values against a JSON Schema: 2020-12, or draft-07 when `$schema` says so. The
 * same schema object is compiled once, whoever asks. Throws an `Error` that says why when the
 * schema cannot be used. This file alone knows which validator does the work.
 *
 * No pattern can block: it is matched in linear time, and one that cannot be is refused.
 */
export function compileSchema(schema: Record<string, unknown>): SchemaCheck {
  const known = checks.get(schema);
  if (known !== undefined) return known;
  const check = compile(schema);
  checks.set(schema, check);
  return check;
}

function compile(schema: Record<string, unknown>): SchemaCheck {
  const { $schema: dialect, ...rest } = schema;
  if (rest['$async'] === true) throw new Error('an asynchronous schema is not supported');
  const validate = validatorFor(draftOf(dialect), rest).compile(rest);
  return (value) => {
    try {
      budget.reset();
      if (validate(value)) return [];
      const faults = (validate.errors ?? []).slice(0, MAX_FAULTS);
      return [...new Set(faults.map((fault) => faultText(fault, rest, value)))];
    } catch (thrown) {
      return [`arguments: they could not be checked: ${thrownText(thrown)}`];
    } finally {
      validate.errors = null; // they hold on to the value
    }
  };
}

const draftOf = (dialect: unknown): Draft =>
  typeof dialect === 'string' && /\/draft-0[4-7]\//.test(dialect) ? 'draft-07' : '2020-12';

/**
 * Making a validator costs far more than compiling with it, so it is shared; but not by schemas
 * with names of their own, which two tools may use for different things.
 */
function validatorFor(draft: Draft, schema: Record<string, unknown>): Validator {
  const text = JSON.stringify(schema);
  const size = unfoldedSize(schema);
  if (size > MAX_UNFOLDED) {
    const most = String(MAX_UNFOLDED);
    throw new Error(`with its references followed it comes to more than ${most} schemas`);
  }
  const allErrors = size <= MAX_FOR_ALL_FAULTS;
  if (/"\$(?:id|anchor|dynamicAnchor)":/.test(text)) return newValidator(draft, allErrors);
  const key = `${draft} ${String(allErrors)}`;
  let kept = shared.get(key);
  if (kept === undefined || kept.compiled >= MAX_COMPILED) {
    kept = { validator: newValidator(draft, allErrors), compiled: 0 };
    shared.set(key, kept);
  }
  kept.compiled += 1;
  return kept.validator;
}

function newValidator(draft: Draft, allErrors: boolean): Validator {
  const options: Options = {
    strict: false, // a keyword that is not known is no error
    allErrors,
    ownProperties: true, // or `toString` is there in every object
    validateFormats: false,
    logger: false,
    code: {
      regExp: Object.assign((source: string) => linearPattern(source), { code: 'linearPattern' }),
    },
  };
  const validator = draft === 'draft-07' ? new Ajv(options) : new Ajv2020(options);
  const uniqueItems = { keyword: 'uniqueItems', type: 'array', schemaType: 'boolean' } as const;
  validator.removeKeyword('uniqueItems').addKeyword({ ...uniqueItems, validate: areUnique });
  return validator;
}

/** In place of the validator's own, which compares each item with each. */
const areUnique: SchemaValidateFunction = (wanted: boolean, items: readonly unknown[]) => {
  if (!wanted) return true;
  const seen = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const text = serdeJsonString(item);
    const first = seen.get(text);
    if (first !== undefined) {
      const which = `items ## ${String(first)} and ${String(index)} are identical`;
      const message = `must NOT have duplicate items (${which})`;
      areUnique.errors = [{ keyword: 'uniqueItems', message, params: { i: index, j: first } }];
      return false;
    }
    seen.set(text, index);
  }
  return true;
};

function linearPattern(source: string): LinearPattern {
  try {
    return new LinearPattern(source, budget);
  } catch (thrown) {
    const text = `pattern ${JSON.stringify(source)}: ${thrownText(thrown)}`;
    throw new Error(cutText(text, MAX_SCHEMA_ERROR), { cause: thrown });
  }
}
