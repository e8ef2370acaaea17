import { defineTool, DefaultToolRegistry, type StandardSchema } from '@celestea/tools';
import { describe, expect, expectTypeOf, test, vi } from 'vitest';
import { z } from 'zod';

import { call } from './support/doubles.ts';

const base = { name: 'tool', description: '' };
const Trip = z.object({
  city: z.string().trim().min(1),
  days: z.number().int().positive().default(3),
  on: z.iso.date().transform((text) => new Date(text)),
});
const trip = { city: ' Rome ', on: '2026-01-02' };

const parameters = { type: 'object' };

/** A schema of no library. */
const own = (validate: StandardSchema<unknown, string>['~standard']['validate']) => ({
  '~standard': { version: 1 as const, vendor: 'own', validate },
});

describe('C3.5 a Standard Schema validates and transforms the arguments', () => {
  test('C3.5 zod: typed, transformed, and told to the model', async () => {
    const toJSONSchema = vi.fn((schema: typeof Trip) =>
      z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }),
    );
    const tool = defineTool({
      ...base,
      schema: Trip,
      toJSONSchema,
      execute: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ city: string; days: number; on: Date }>();
        return `${args.city}, ${String(args.days)} days from ${args.on.toISOString()}`;
      },
      render: (value) => value.toUpperCase(),
    });
    expect(tool.spec().parameters).toMatchObject({ type: 'object', required: ['city', 'on'] });
    const registry = new DefaultToolRegistry();
    registry.register(tool);
    for (const args of [trip, JSON.stringify(trip)]) {
      expect(await registry.dispatch(call('tool', args))).toMatchObject({
        value: 'Rome, 3 days from 2026-01-02T00:00:00.000Z',
        render: 'ROME, 3 DAYS FROM 2026-01-02T00:00:00.000Z',
        error: null,
      });
    }
    expect(await tool.execute(trip)).toContain('Rome, 3 days');
    expect(toJSONSchema).toHaveBeenCalledExactlyOnceWith(Trip);
  });

  test('C3.5 what the JSON Schema lets pass, the schema may still refuse', async () => {
    const execute = vi.fn();
    const registry = new DefaultToolRegistry();
    registry.register(defineTool({ ...base, schema: Trip, parameters, execute }));
    const { error, value } = await registry.dispatch(call('tool', { city: '  ', days: 'x' }));
    expect(value).toBeNull();
    expect(error).toBe(
      'not run, the arguments do not fit: ' +
        'city: Too small: expected string to have >=1 characters\n' +
        'days: Invalid input: expected number, received string\n' +
        'on: Invalid input: expected string, received undefined',
    );
    expect(execute).not.toHaveBeenCalled();
  });

  test('C3.6 guards see what the model sent, which is what was logged', async () => {
    const registry = new DefaultToolRegistry();
    registry.register(defineTool({ ...base, schema: Trip, parameters, execute: () => 1 }));
    const check = vi.fn(() => Promise.resolve({ kind: 'allow' } as const));
    registry.addGuard({ check });
    await registry.dispatch(call('tool', JSON.stringify(trip)));
    expect(check).toHaveBeenCalledExactlyOnceWith(call('tool', trip));
  });

  test('C3.5 it may answer later, be a function, and fail in its own way', async () => {
    const later = own((value) => Promise.resolve({ value: `${String(value)}!` }));
    const asFunction = Object.assign(() => undefined, later);
    const execute = (args: string): string => {
      expectTypeOf(args).toEqualTypeOf<string>();
      return args;
    };
    const tool = defineTool({ ...base, schema: asFunction, parameters, execute });
    expect(await tool.execute('a')).toBe('a!');
    const path = ['a', { key: 0 }, Symbol('s')];
    const failing = own(() => ({ issues: [{ message: 'no', path }, { message: 'x'.repeat(999) }] }));
    const refused = defineTool({ ...base, schema: failing, parameters, execute });
    await expect(refused.execute('a')).rejects.toThrow(
      /^not run, the arguments do not fit: a\.0\.Symbol\(s\): no\narguments: x{380,400}…$/,
    );
    const broken = own(() => {
      throw new Error('bug');
    });
    await expect(defineTool({ ...base, schema: broken, parameters, execute }).execute(1))
      .rejects.toThrow('bug');
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['no JSON Schema', { schema: Trip },
      'defineTool: parameters: expected the JSON Schema beside schema, or a function toJSONSchema ' +
      'that gives it, got undefined'],
    ['no schema', { schema: {}, parameters },
      'defineTool: schema: expected a Standard Schema, got an object'],
    ['null as schema', { schema: null, parameters },
      'defineTool: schema: expected a Standard Schema, got null'],
    ['no function', { schema: Trip, toJSONSchema: {} },
      'defineTool: toJSONSchema: expected a function or nothing, got an object'],
    ['a function that throws', { schema: Trip, toJSONSchema: z.toJSONSchema },
      'defineTool: toJSONSchema: expected it to give a JSON Schema, but it threw: Transforms ' +
      'cannot be represented in JSON Schema'],
    ['a function that gives none', { schema: Trip, toJSONSchema: () => 'x' },
      'defineTool: parameters: expected a JSON Schema object, got "x"'],
  ])('C3.5 a definition that is wrong is a TypeError: %s', (_title, fields, text) => {
    expect(() => defineTool({ ...base, execute: () => 1, ...fields } as never)).toThrow(
      new TypeError(text),
    );
  });
});
