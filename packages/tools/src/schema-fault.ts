import { describeValue, isRecord, serdeJsonString } from '@celestea/core';

import { cutText } from './text.ts';

const MAX_PATH = 200;
const MAX_LIST = 300;
const MAX_SCHEMA = 300;

/** One thing that does not fit, as JSON Schema validators report it. */
export interface SchemaFault {
  readonly keyword: string;
  /** A JSON pointer to the value. */
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
  /** The schema that the keyword stands in. */
  readonly parentSchema?: unknown;
  readonly data?: unknown;
}

/**
 * A fault in words that let a model mend its call: where, what was expected, what came, and
 * the part of the schema that says so.
 *
 * @example 'limit: expected a number >= 1, got 0; schema: {"type":"integer","minimum":1}'
 */
export function faultText(fault: SchemaFault): string {
  const { keyword, params, parentSchema: owner } = fault;
  const names = pointerNames(fault.instancePath);
  if (keyword === 'required') {
    const missing = String(params['missingProperty']);
    const part = own(own(owner, 'properties'), missing);
    return sentence([...names, missing], typeText(own(part, 'type')), 'nothing', part ?? owner);
  }
  const stranger = params['additionalProperty'] ?? params['unevaluatedProperty'];
  if (typeof stranger === 'string') {
    return sentence(names, knownNames(owner), describeValue(stranger), undefined);
  }
  const expected = expectation(keyword, params, fault.message);
  return sentence(names, expected, describeValue(fault.data), owner);
}

function sentence(
  names: readonly string[],
  expected: string,
  came: string,
  schema: unknown,
): string {
  const text = `${pathText(names)}: expected ${expected}, got ${came}`;
  return schema === undefined ? text : `${text}; schema: ${jsonText(schema, MAX_SCHEMA)}`;
}

function expectation(
  keyword: string,
  params: Readonly<Record<string, unknown>>,
  message = 'fits the schema',
): string {
  const limit = String(params['limit']);
  switch (keyword) {
    case 'type':
      return typeText(params['type']);
    case 'enum':
      return `one of ${jsonText(params['allowedValues'], MAX_LIST)}`;
    case 'const':
      return jsonText(params['allowedValue'], MAX_LIST);
    case 'pattern':
      return `text that matches ${cutText(String(params['pattern']), MAX_LIST)}`;
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return `a number ${String(params['comparison'])} ${limit}`;
    case 'minLength':
      return `at least ${limit} characters`;
    case 'maxLength':
      return `at most ${limit} characters`;
    case 'minItems':
      return `at least ${limit} items`;
    case 'maxItems':
      return `at most ${limit} items`;
    default:
      return `a value that ${cutText(message, MAX_LIST)}`;
  }
}

const TYPE_TEXTS = new Map([
  ['string', 'a string'],
  ['number', 'a number'],
  ['integer', 'a whole number'],
  ['boolean', 'true or false'],
  ['null', 'null'],
  ['array', 'an array'],
  ['object', 'an object'],
]);

function typeText(type: unknown): string {
  const types: unknown[] = Array.isArray(type) ? type : [type];
  return types.map((each) => TYPE_TEXTS.get(String(each)) ?? 'a value').join(' or ');
}

function knownNames(owner: unknown): string {
  const properties = own(owner, 'properties');
  const names = isRecord(properties) ? Object.keys(properties) : [];
  return names.length === 0 ? 'no properties' : `only ${cutText(names.join(', '), MAX_LIST)}`;
}

/** `items[0].name`; the arguments themselves are `arguments`. */
function pathText(names: readonly string[]): string {
  let text = '';
  for (const name of names) {
    if (/^\d+$/.test(name)) text += `[${name}]`;
    else if (!/^[\w$-]+$/.test(name)) text += `[${JSON.stringify(cutText(name, MAX_PATH))}]`;
    else text += text === '' ? name : `.${name}`;
    if (text.length > MAX_PATH) break;
  }
  return text === '' ? 'arguments' : cutText(text, MAX_PATH);
}

const pointerNames = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));

/** What stands under a name; `undefined` when nothing does. */
const own = (value: unknown, name: string): unknown =>
  isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;

const jsonText = (value: unknown, max: number): string => cutText(serdeJsonString(value), max);
