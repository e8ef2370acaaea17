import { follow, pointerNames } from './schema-fault.ts';
import { isRecord } from './shape.ts';

/** Keywords that hold one schema, or (`items`, the dependencies) also a list or a map of them. */
const SINGLE = [
  'items', 'additionalItems', 'unevaluatedItems', 'contains', 'additionalProperties',
  'unevaluatedProperties', 'propertyNames', 'not', 'if', 'then', 'else',
];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'];
const MAPS = ['properties', 'patternProperties', 'dependentSchemas', 'dependencies'];
const REFERENCES = ['$ref', '$dynamicRef'];

/**
 * How many schemas a check can come by at one value of each kind: references within the schema
 * are followed each time, so that what doubles itself at each of n steps counts 2^n. A reference
 * that leads back to where it is counts one.
 */
export function unfoldedSize(root: Record<string, unknown>): number {
  const named = namedSchemas(root);
  const sizes = new Map<object, number>();
  const sizeOf = (schema: unknown, outer: object): number => {
    if (!isRecord(schema)) return 1;
    const known = sizes.get(schema);
    if (known !== undefined) return known;
    sizes.set(schema, 1); // what a reference back to here counts
    const base = typeof schema['$id'] === 'string' ? schema : outer;
    let size = 1;
    for (const part of partsOf(schema)) size += sizeOf(part, base);
    for (const keyword of REFERENCES) {
      const reference = schema[keyword];
      if (typeof reference === 'string') size += sizeOf(resolved(reference, base, named), base);
    }
    sizes.set(schema, size);
    return size;
  };
  return sizeOf(root, root);
}

function partsOf(schema: Record<string, unknown>): unknown[] {
  const lists = LISTS.map((keyword) => schema[keyword]);
  const maps = MAPS.map((keyword) => schema[keyword]);
  return [
    ...SINGLE.map((keyword) => schema[keyword]).filter(isRecord),
    ...lists.flatMap((list): unknown[] => (Array.isArray(list) ? list : [])),
    ...maps.flatMap((map) => (isRecord(map) ? Object.values(map) : [])),
  ];
}

function resolved(reference: string, base: object, named: ReadonlyMap<string, object>): unknown {
  const whole = named.get(reference);
  if (whole !== undefined) return whole;
  const [id = '', fragment = ''] = reference.split('#', 2);
  return follow(id === '' ? base : named.get(id), pointerNames(fragment));
}

/** The schemas with an `$id`, and those with an anchor under `#` and its name. */
function namedSchemas(root: object): Map<string, object> {
  const named = new Map<string, object>();
  const open: object[] = [root];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    for (const [key, child] of Object.entries(value) as [string, unknown][]) {
      if (typeof child === 'object' && child !== null) open.push(child);
      if (typeof child !== 'string') continue;
      if (key === '$id') named.set(child, value);
      if (key === '$anchor' || key === '$dynamicAnchor') named.set(`#${child}`, value);
    }
  }
  return named;
}
