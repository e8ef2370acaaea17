import { defineTool, DefaultToolRegistry, leavePatterns } from '@celestea/tools';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, describe, expect, test, vi } from 'vitest';

import { compileSchema } from '../src/schema-check.ts';
import { call } from './support/doubles.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const tool = (parameters: Record<string, unknown>, name = 'tool') =>
  defineTool({ name, description: '', parameters, execute: () => 'ran' });

const fits = (schema: Record<string, unknown>, value: unknown): boolean =>
  compileSchema(schema)(value).length === 0;

describe('C3.1 parameters are a JSON Schema', () => {
  test('C3.1 a schema is compiled once, whoever asks and however often', async () => {
    const compile = vi.spyOn(Ajv2020.prototype, 'compile');
    const [one, other] = [tool({ type: 'object' }), tool({ type: 'object' }, 'other')];
    const registry = new DefaultToolRegistry();
    registry.register(one);
    registry.register(one);
    registry.register(other);
    new DefaultToolRegistry().register(one);
    for (let round = 0; round < 20; round += 1) {
      await registry.dispatch(call('tool'));
      await registry.dispatch(call('other', 5));
    }
    expect(compile).toHaveBeenCalledTimes(2);
  });

  test('C3.1 many schemas do not pile up in one validator', () => {
    const compile = vi.spyOn(Ajv2020.prototype, 'compile');
    for (let index = 0; index < 600; index += 1) compileSchema({ title: String(index) });
    expect(new Set(compile.mock.contexts).size).toBe(2);
  });

  test('C3.1 draft-07 is read as such when $schema says so', () => {
    const compile = vi.spyOn(Ajv.prototype, 'compile');
    const $schema = 'http://json-schema.org/draft-07/schema#';
    const schema = { $schema, items: [{ type: 'string' }], additionalItems: false };
    expect([fits(schema, ['a']), fits(schema, [1]), fits(schema, ['a', 'b'])]).toEqual(
      [true, false, false],
    );
    expect(fits({ $schema, exclusiveMinimum: 1 }, 1)).toBe(false);
    expect(compile).toHaveBeenCalledTimes(2);
    const draft6 = { $schema: 'http://json-schema.org/draft-06/schema#', type: 'string' };
    expect(fits(draft6, 1)).toBe(false);
  });

  test.each([
    'https://json-schema.org/draft/2020-12/schema',
    'https://json-schema.org/draft/2019-09/schema',
    'https://example.com/own',
  ])('C3.1 anything else is read as 2020-12: %s', ($schema) => {
    const schema = { $schema, prefixItems: [{ type: 'string' }], unevaluatedItems: false };
    expect([fits(schema, ['a']), fits(schema, [1]), fits(schema, ['a', 1])]).toEqual(
      [true, false, false],
    );
  });

  test('C3.1 two tools may use one $id for different schemas', () => {
    const [text, number] = [{ $id: 'x', type: 'string' }, { $id: 'x', type: 'number' }];
    expect([fits(text, 'a'), fits(number, 'a')]).toEqual([true, false]);
    const nested = (type: string) => ({ $ref: 'y', $defs: { y: { $id: 'y', type } } });
    expect([fits(nested('string'), 'a'), fits(nested('number'), 'a')]).toEqual([true, false]);
  });

  test('C3.1 what only annotates is no error: formats, defaults, unknown keywords', () => {
    const schema = { type: 'string', format: 'date', default: 1, 'x-own': {}, examples: [] };
    expect(fits(schema, 'no date')).toBe(true);
  });

  test('C3.1 a check changes nothing, and adds no defaults', () => {
    const value = { b: '1' };
    const schema = { properties: { a: { default: 1 }, b: { type: 'number' } } };
    expect(compileSchema(schema)(value)).toHaveLength(1);
    expect(value).toEqual({ b: '1' });
  });

  test('C3.1 patterns are those of JavaScript, and left out where the schema is a stranger\'s', () => {
    const schema = () => ({
      properties: { a: { type: 'string', pattern: '^(a+)+$' } },
      patternProperties: { '^b': { type: 'number' } },
      unevaluatedProperties: false,
    });
    const closed = { patternProperties: { '^b': true }, additionalProperties: false };
    expect([{ a: 'aa', b: 1 }, { a: 'b' }, { b: 'x' }, { c: 1 }].map((value) =>
      fits(schema(), value))).toEqual([true, false, false, false]);
    const left = leavePatterns(schema());
    const hostile = { a: `${'a'.repeat(50)}!`, b: 'x', c: 1 };
    expect([fits(left, hostile), fits(left, { a: 1 })]).toEqual([true, false]);
    expect([fits(closed, { c: 1 }), fits(leavePatterns({ ...closed }), { c: 1 })]).toEqual(
      [false, true],
    );
    expect(fits(leavePatterns({ pattern: '[' }), 'a')).toBe(true);
  });

  test('C3.1 what is to be unique is compared as a whole', () => {
    const check = compileSchema({ uniqueItems: true });
    expect(check([{ a: 1, b: 2 }, 5, { b: 2, a: 1 }])[0]).toContain(
      'must NOT have duplicate items (items ## 0 and 2 are identical)',
    );
    expect(check([1, '1', true, null, 'null', [1], [[1]], {}])).toEqual([]);
  });

  const cyclic: Record<string, unknown> = { type: 'object' };
  cyclic['properties'] = { self: cyclic };

  test.each<[string, object, string]>([
    ['a type that is none', { type: 'strin' }, 'schema is invalid: data/type must be'],
    ['a keyword of the wrong type', { properties: 5 }, 'data/properties must be object'],
    ['a reference to nowhere', { $ref: '#/$defs/no' }, "can't resolve reference #/$defs/no"],
    ['a reference to the net', { $ref: 'https://a.b/c' }, "can't resolve reference https://a.b/c"],
    ['a promise', { $async: true }, 'an asynchronous schema is not supported'],
    ['a pattern that is none', { pattern: '[' }, 'Invalid regular expression: /[/'],
    ['a cycle', cyclic, 'it is nested deeper than 100 levels'],
    ['too many levels', JSON.parse(`${'{"not":'.repeat(101)}{}${'}'.repeat(101)}`) as object,
      'it is nested deeper than 100 levels'],
    ['too many bytes', { description: 'é'.repeat(2 ** 17) }, 'it has 262162 bytes, more than 262144'],
  ])('C3.1 a schema that cannot be used is a TypeError: %s', (_title, parameters, text) => {
    const registry = new DefaultToolRegistry();
    const register = (): void => {
      registry.register(tool({ ...parameters }, 'weather'));
    };
    expect(register).toThrow(TypeError);
    expect(register).toThrow('tool weather: parameters: expected a JSON Schema that can be used');
    expect(register).toThrow(text);
    expect(registry.schemas()).toEqual([]);
  });
});
