import { serdeJsonString } from '@celestea/core';
import { defineTool, DefaultToolRegistry } from '@celestea/tools';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { readArguments } from '../src/call-arguments.ts';
import { plainValue } from '../src/plain-value.ts';
import { compileSchema } from '../src/schema-check.ts';

/** The part of JSON Schema that the laws are about, small enough to be judged by hand. */
interface Schema extends Record<string, unknown> {
  type: 'string' | 'integer' | 'null' | 'array' | 'object';
  minimum?: number;
  minLength?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean;
}

const name = fc.constantFrom('a', 'b', '__proto__', 'constructor', 'toString', 'x y', '/', '~');

const { schema } = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.record({ type: fc.constant('string' as const), minLength: fc.nat(3) }),
    fc.record({ type: fc.constant('integer' as const), minimum: fc.integer({ min: -3, max: 3 }) }),
    fc.constant({ type: 'null' as const }),
    fc.record({ type: fc.constant('array' as const), items: tie('schema') }),
    fc.record({
      type: fc.constant('object' as const),
      properties: fc.dictionary(name.filter((each) => each !== '__proto__'), tie('schema')),
      required: fc.uniqueArray(name, { maxLength: 2 }),
      additionalProperties: fc.boolean(),
    }),
  ),
}));

/** JSON that comes near to what such schemas accept. */
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>('', 'abc', 0, 5, -5, 1.5, null, true),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.array(fc.tuple(name, tie('json')), { maxLength: 4 }).map((fields) => {
      const text = fields.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
      return JSON.parse(`{${text.join(',')}}`) as unknown;
    }),
  ),
}));

function accepts(to: Schema, value: unknown): boolean {
  switch (to.type) {
    case 'string':
      return typeof value === 'string' && value.length >= (to.minLength ?? 0);
    case 'integer':
      return Number.isInteger(value) && Number(value) >= (to.minimum ?? -Infinity);
    case 'null':
      return value === null;
    case 'array': {
      const { items } = to;
      return Array.isArray(value) && (!items || value.every((item) => accepts(items, item)));
    }
    case 'object': {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
      const known = new Map(Object.entries(to.properties ?? {}));
      return (
        (to.required ?? []).every((key) => Object.hasOwn(value, key)) &&
        Object.entries(value).every(([key, field]) => {
          const part = known.get(key);
          return part === undefined ? to.additionalProperties === true : accepts(part, field);
        })
      );
    }
    default:
      return to.type satisfies never;
  }
}

/** Nothing and blank text are no arguments; other text is JSON where no text is wanted. */
function countsAs(to: Schema, value: unknown): unknown {
  if (value === null || (value === '' && !accepts(to, value))) return {};
  return value;
}

const hostile = fc.anything({
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withInvalidDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
  stringUnit: 'binary',
} as fc.ObjectConstraints);

describe('laws', () => {
  test('C3.7 arguments are accepted when they fit, for 10,000 schemas and values', () => {
    fc.assert(
      fc.property(schema, fc.array(json, { minLength: 10, maxLength: 10 }), (to, values) => {
        const check = compileSchema(to);
        for (const value of values) {
          const given = countsAs(to, value);
          const read = readArguments(value, to, check);
          expect(read.ok).toBe(accepts(to, given));
          if (read.ok) expect(serdeJsonString(read.args)).toBe(serdeJsonString(given));
          else expect(read.error.length).toBeLessThanOrEqual(2_000);
          // Text that is JSON is judged as what it says, unless it is wanted as text.
          if (to.type !== 'string') {
            const text = readArguments(JSON.stringify(value), to, check);
            expect(text.ok).toBe(accepts(to, value ?? {}));
          }
        }
        expect({}).not.toHaveProperty('a');
      }),
      { numRuns: 1_000 },
    );
  });

  test('C6.1 whatever a tool returns becomes JSON that stays as it is, 10,000 times', () => {
    fc.assert(
      fc.property(hostile, (value) => {
        const plain = plainValue(value);
        const text = JSON.stringify(plain);
        expect(JSON.stringify(JSON.parse(text))).toBe(text);
        expect(serdeJsonString(JSON.parse(text))).toBe(serdeJsonString(plain));
        expect(text.isWellFormed()).toBe(true);
        expect(plainValue(plain)).toBe(plain);
      }),
      { numRuns: 10_000 },
    );
  });

  test('C6.1 JSON comes back as the same object', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(plainValue(value)).toBe(value);
      }),
      { numRuns: 1_000 },
    );
  });

  test('C3.7 dispatch settles with an output, whatever arguments and results', async () => {
    const registry = new DefaultToolRegistry();
    await fc.assert(
      fc.asyncProperty(hostile, hostile, fc.boolean(), async (args, result, throws) => {
        const execute = (): unknown => {
          if (throws) throw result;
          return result;
        };
        registry.register(defineTool({ name: 'a', description: '', parameters: {}, execute }));
        const output = await registry.dispatch({ call_id: 'x', name: 'a', args });
        expect(output.call_id).toBe('x');
        expect(output.error === null || output.error.length > 0).toBe(true);
        expect(plainValue(output)).toBe(output);
      }),
      { numRuns: 1_000 },
    );
  });
});
