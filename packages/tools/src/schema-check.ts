import { Ajv, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

import { LinearPattern, StepBudget } from './pattern.ts';
import { faultText } from './schema-fault.ts';
import { cutText } from './text.ts';
import { thrownText } from './thrown.ts';

/** What does not fit, in words, at most a few; empty when the value fits. It never throws. */
export type SchemaCheck = (value: unknown) => readonly string[];

const MAX_FAULTS = 5;
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
const shared = new Map<Draft, { validator: Validator; compiled: number }>();
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
  if (/"\$(?:id|anchor|dynamicAnchor)":/.test(JSON.stringify(schema))) return newValidator(draft);
  let kept = shared.get(draft);
  if (kept === undefined || kept.compiled >= MAX_COMPILED) {
    kept = { validator: newValidator(draft), compiled: 0 };
    shared.set(draft, kept);
  }
  kept.compiled += 1;
  return kept.validator;
}

function newValidator(draft: Draft): Validator {
  const options: Options = {
    strict: false, // a keyword that is not known is no error
    allErrors: true,
    ownProperties: true, // or `toString` is there in every object
    validateFormats: false,
    logger: false,
    code: {
      regExp: Object.assign((source: string) => linearPattern(source), { code: 'linearPattern' }),
    },
  };
  return draft === 'draft-07' ? new Ajv(options) : new Ajv2020(options);
}

function linearPattern(source: string): LinearPattern {
  try {
    return new LinearPattern(source, budget);
  } catch (thrown) {
    const text = `pattern ${JSON.stringify(source)}: ${thrownText(thrown)}`;
    throw new Error(cutText(text, MAX_SCHEMA_ERROR), { cause: thrown });
  }
}
