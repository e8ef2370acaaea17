import { defineTool, DefaultToolRegistry } from '@celestea/tools';
import type { ToolInput, ToolOutput } from '@celestea/core';
import { describe, expect, test, vi } from 'vitest';

import { call, guardOf } from './support/doubles.ts';

const CITY = {
  type: 'object',
  properties: {
    city: { type: 'string', minLength: 1 },
    days: { type: 'integer', minimum: 1, maximum: 7 },
    tags: { type: 'array', items: { type: 'object', properties: { k: { enum: ['a', 'b'] } } } },
  },
  required: ['city'],
  additionalProperties: false,
};

/** What a tool of this schema was run with, and what came of it. */
async function dispatched(
  parameters: Record<string, unknown>,
  args: unknown,
): Promise<{ output: ToolOutput; seen: unknown[]; judged: unknown[] }> {
  const [seen, judged]: [unknown[], unknown[]] = [[], []];
  const registry = new DefaultToolRegistry();
  const execute = (given: unknown): string => {
    seen.push(given);
    return 'ran';
  };
  registry.register(defineTool({ name: 'tool', description: '', parameters, execute }));
  registry.addGuard(
    guardOf((input: ToolInput) => {
      judged.push(input.args);
      return { kind: 'allow' };
    }),
  );
  return { output: await registry.dispatch(call('tool', args)), seen, judged };
}

describe('C3.2 arguments as they are used', () => {
  test.each<[string, unknown, unknown]>([
    ['nothing', undefined, {}],
    ['null', null, {}],
    ['empty text', '', {}],
    ['blank text', ' \n', {}],
    ['the text null', 'null', {}],
    ['text that is JSON', ' {"a": [1]} ', { a: [1] }],
    ['an object', { a: { b: null } }, { a: { b: null } }],
    ['an undefined field', { a: undefined, b: 1 }, { b: 1 }],
    ['what has a form in JSON', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
    ['no prototype', Object.assign(Object.create(null) as object, { a: 1 }), { a: 1 }],
  ])('C3.2 %s', async (_title, args, used) => {
    const { output, seen, judged } = await dispatched({ type: 'object' }, args);
    expect(output).toMatchObject({ value: 'ran', error: null });
    expect(seen).toStrictEqual([used]);
    expect(judged[0]).toStrictEqual(seen[0]);
    expect(Object.isFrozen(judged[0])).toBe(true);
    expect(Object.isFrozen(seen[0])).toBe(false);
    expect(Object.getPrototypeOf(seen[0])).toBe(Object.prototype);
  });

  test.each([['[1]'], ['5'], ['true'], ['"text"']])(
    'C3.2 JSON that is no object is for the schema to judge: %s',
    async (args) => {
      const parsed: unknown = JSON.parse(args);
      expect((await dispatched({}, args)).seen).toEqual([parsed]);
      expect((await dispatched({ type: 'object' }, args)).seen).toEqual([]);
    },
  );

  test('C3.7 nothing is frozen of a call that nobody judges: that costs more than all the rest', async () => {
    const registry = new DefaultToolRegistry();
    registry.register(defineTool({ name: 'tool', description: '', parameters: {}, execute: () => 1 }));
    const freeze = vi.spyOn(Object, 'freeze');
    const { value } = await registry.dispatch(call('tool', { a: [1] }));
    const frozen = freeze.mock.calls.length;
    freeze.mockRestore();
    expect({ value, frozen }).toEqual({ value: 1, frozen: 0 });
  });

  test('C3.2 text stays where the schema asks for text and it fits', async () => {
    expect((await dispatched({ type: 'string' }, '{"a":1}')).seen).toEqual(['{"a":1}']);
    expect((await dispatched({ type: ['object', 'string'] }, 'a')).seen).toEqual(['a']);
    expect((await dispatched({ type: ['object', 'string'], maxLength: 1 }, '{}')).seen)
      .toEqual([{}]);
  });

  test.each<[string, unknown]>([
    ['a field of each kind', { a: 'x', b: 0.5, c: false, d: null, e: { f: [[]] }, 1: {} }],
    ['what JSON has not', { a: -0, b: NaN, c: Infinity, d: undefined, e: () => 1, f: Symbol() }],
    ['a list with holes and more', Object.assign([1, , undefined, NaN], { more: 1 })], // eslint-disable-line no-sparse-arrays -- a hole is what is meant
    ['half a character', { '\ud800': '\udfff' }],
    ['a field that is hidden', Object.defineProperty({ a: 1 }, 'b', { value: 2 })],
    ['fields of a class', new (class { a = 1 })()],
    ['a form in JSON deep inside', [{ a: [new Date(0), Object('x'), Object(1)] }]],
    ['more than is copied field by field', Array.from({ length: 100 }, (_, index) => ({ index }))],
    ['a depth that is not', JSON.parse('{"a":'.repeat(20) + '1' + '}'.repeat(20))],
  ])('C3.2 the copy is what JSON makes of it: %s', async (_title, args) => {
    const { seen, judged } = await dispatched({}, args);
    const written: unknown = JSON.parse(JSON.stringify(args));
    expect(seen).toStrictEqual([written]);
    expect(judged).toStrictEqual([written]);
  });

  test('C1.5 the tool gets a copy: what it changes stays out of the log', async () => {
    const args = { list: [1] };
    const { seen } = await dispatched({ type: 'object' }, args);
    expect(seen[0]).toEqual(args);
    expect(seen[0]).not.toBe(args);
    (seen[0] as typeof args).list.push(2);
    expect(args).toEqual({ list: [1] });
  });

  test('C3.2 names like __proto__ are names like any other, and pollute nothing', async () => {
    const text = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}';
    for (const args of [text, JSON.parse(text) as unknown]) {
      const { seen } = await dispatched({ type: 'object' }, args);
      expect(Object.keys(seen[0] as object)).toEqual(['__proto__', 'constructor']);
      expect(Object.getPrototypeOf(seen[0])).toBe(Object.prototype);
      expect({}).not.toHaveProperty('polluted');
      const strict = await dispatched({ type: 'object', additionalProperties: false }, args);
      expect(strict.output.error).toBe(
        'not run, the arguments do not fit: arguments: expected no properties, got "__proto__"\n' +
          'arguments: expected no properties, got "constructor"',
      );
    }
    for (const name of ['toString', 'constructor', '__proto__']) {
      const { output } = await dispatched({ type: 'object', required: [name] }, {});
      expect(output.error).toContain(`${name}: expected a value, got nothing`);
    }
  });
});

/** What this version of Node says of a text that is no JSON; each has words of its own. */
function parseFault(text: string): string {
  try {
    JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return error.message;
  }
  throw new Error('expected a text that is no JSON');
}

describe('C3.7 arguments that do not fit', () => {
  test.each<[string, unknown, string]>([
    ['text that is no JSON', 'Paris',
      `arguments: expected JSON, got "Paris" (Unexpected token 'P', "Paris" is not valid JSON)`],
    ['text that was cut off', '{"city": "Par',
      `arguments: expected JSON, got "{\\"city\\": \\"Par" (${parseFault('{"city": "Par')})`],
    ['a missing property', {},
      'city: expected a string, got nothing; schema: {"minLength":1,"type":"string"}'],
    ['a wrong type', { city: 5 },
      'city: expected a string, got 5; schema: {"minLength":1,"type":"string"}'],
    ['too short', { city: '' },
      'city: expected at least 1 characters, got ""; schema: {"minLength":1,"type":"string"}'],
    ['too much', { city: 'x', days: 8 },
      'days: expected a number <= 7, got 8; schema: {"maximum":7,"minimum":1,"type":"integer"}'],
    ['no whole number', { city: 'x', days: 1.5 },
      'days: expected a whole number, got 1.5; ' +
      'schema: {"maximum":7,"minimum":1,"type":"integer"}'],
    ['deep inside', { city: 'x', tags: [{}, { k: 'c' }] },
      'tags[1].k: expected one of ["a","b"], got "c"; schema: {"enum":["a","b"]}'],
    ['a stranger', { city: 'x', town: 'y' },
      'arguments: expected only city, days, tags, got "town"'],
    ['several', { days: 0, tags: 5 },
      'city: expected a string, got nothing; schema: {"minLength":1,"type":"string"}\n' +
      'days: expected a number >= 1, got 0; ' +
      'schema: {"maximum":7,"minimum":1,"type":"integer"}\n' +
      'tags: expected an array, got 5; schema: {"items":{"properties":{"k":{"enum":["a","b"]}},' +
      '"type":"object"},"type":"array"}'],
    ['a bigint', { city: 1n },
      'arguments: expected JSON, got an object (Do not know how to serialize a BigInt)'],
    ['a function', () => 1,
      'arguments: expected JSON, got a function (it has no form in JSON)'],
    ['a getter that throws', Object.defineProperty({}, 'city', {
      enumerable: true,
      get: () => {
        throw new Error('trap');
      },
    }), 'arguments: expected JSON, got an object (trap)'],
  ])('C3.7 %s', async (_title, args, text) => {
    const { output, seen, judged } = await dispatched(CITY, args);
    expect(output).toEqual({
      call_id: 'call-1',
      value: null,
      render: null,
      error: `not run, the arguments do not fit: ${text}`,
      decision: null,
    });
    expect([seen, judged]).toEqual([[], []]);
  });

  test.each<[string, Record<string, unknown>, unknown, string]>([
    ['const', { const: { a: 1 } }, 1, 'x: expected {"a":1}, got 1'],
    ['several types', { type: ['string', 'null'] }, true, 'x: expected a string or null, got true'],
    ['a pattern', { pattern: '^a+$' }, 'b', 'x: expected text that matches ^a+$, got "b"'],
    ['a long text', { maxLength: 3 }, 'abcd', 'x: expected at most 3 characters, got "abcd"'],
    ['few items', { minItems: 2 }, [1], 'x: expected at least 2 items, got an array'],
    ['many items', { maxItems: 0 }, [1], 'x: expected at most 0 items, got an array'],
    ['not', { not: {} }, 1, 'x: expected a value that must NOT be valid, got 1'],
    ['false', { items: false }, [1], 'x[0]: expected a value that boolean schema is false, got 1'],
    ['a name that is no name', { properties: { 'a/b~ %': { type: 'null' } } }, { 'a/b~ %': 1 },
      'x["a/b~ %"]: expected null, got 1; schema: {"type":"null"}'],
    ['alternatives', { anyOf: [{ type: 'string' }, { type: 'null' }] }, 1,
      'x: expected a string, got 1; schema: {"type":"string"}\n' +
      'x: expected null, got 1; schema: {"type":"null"}\n' +
      'x: expected a value that must match a schema in anyOf, got 1'],
  ])('C3.7 the error says what was expected: %s', async (_title, x, value, text) => {
    const { output } = await dispatched({ type: 'object', properties: { x } }, { x: value });
    expect(output.error).toContain(`do not fit: ${text}`);
  });

  test('C3.7 a property of another document is named with its schema', async () => {
    const item = { $id: 'https://a.b/item', type: 'string' };
    const parameters = { properties: { x: { $ref: 'https://a.b/item' } }, $defs: { item } };
    const { output } = await dispatched(parameters, { x: 1 });
    expect(output.error).toBe(
      'not run, the arguments do not fit: x: expected a string, got 1; ' +
        'schema: {"$id":"https://a.b/item","type":"string"}',
    );
  });

  test('C3.7 the error is bounded, however much does not fit', async () => {
    const name = 'n'.repeat(1_000);
    const names = Array.from({ length: 1_000 }, (_, index) => `${name}${String(index)}`);
    const parameters = { additionalProperties: { enum: [name] }, maxProperties: 1, required: [name] };
    const args = Object.fromEntries(names.map((each) => [each, each]));
    const { output } = await dispatched(parameters, args);
    expect(output.error?.length).toBeLessThanOrEqual(2_000);
    const text = await dispatched({ type: 'object' }, `{${name}`);
    expect(text.output.error?.length).toBeLessThanOrEqual(600);
  });

  test('C3.7 what is nested too deep to be read is an error', async () => {
    const parameters = { properties: { a: { $ref: '#' } } };
    const { output, seen } = await dispatched(parameters, '{"a":'.repeat(50_000) + '1' + '}'.repeat(50_000));
    expect(output.error).toContain('Maximum call stack size exceeded');
    expect(seen).toEqual([]);
  });

  test('C3.6 arguments come first: nobody is asked about a call that cannot run', async () => {
    const check = vi.fn(() => ({ kind: 'ask', reason: 'it writes' }));
    const registry = new DefaultToolRegistry();
    registry.register(
      defineTool({ name: 'tool', description: '', parameters: CITY, execute: () => 1 }),
    );
    registry.addGuard(guardOf(check));
    expect((await registry.dispatch(call('tool', {}))).decision).toBeNull();
    expect(check).not.toHaveBeenCalled();
    const asked = await registry.dispatch(call('tool', '{"city":"x"}'));
    expect(asked.decision).toEqual({ kind: 'ask', reason: 'it writes' });
    expect(check).toHaveBeenCalledExactlyOnceWith(call('tool', { city: 'x' }));
  });
});
