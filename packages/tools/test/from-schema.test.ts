import { defineTool, type FromSchema, type ToolDefinition } from '@celestea/tools';
import { describe, expectTypeOf, test } from 'vitest';

type Accepted<Schema> = FromSchema<Schema>;

const base = { name: 'a', description: '' };

describe('C3.5 the arguments have the type of the schema', () => {
  test('C3.5 plain types', () => {
    expectTypeOf<Accepted<{ type: 'string' }>>().toEqualTypeOf<string>();
    expectTypeOf<Accepted<{ type: 'number' }>>().toEqualTypeOf<number>();
    expectTypeOf<Accepted<{ type: 'integer' }>>().toEqualTypeOf<number>();
    expectTypeOf<Accepted<{ type: 'boolean' }>>().toEqualTypeOf<boolean>();
    expectTypeOf<Accepted<{ type: 'null' }>>().toEqualTypeOf<null>();
    expectTypeOf<Accepted<{ type: 'array' }>>().toEqualTypeOf<unknown[]>();
    expectTypeOf<Accepted<{ type: 'object' }>>().toEqualTypeOf<Record<string, unknown>>();
    expectTypeOf<Accepted<{ type: readonly ['string', 'null'] }>>()
      .toEqualTypeOf<string | null>();
    expectTypeOf<Accepted<{ type: 'array'; items: { type: 'string' } }>>()
      .toEqualTypeOf<string[]>();
  });

  test('C3.5 enum, const and alternatives', () => {
    expectTypeOf<Accepted<{ enum: readonly ['a', 1, null] }>>().toEqualTypeOf<'a' | 1 | null>();
    expectTypeOf<Accepted<{ type: 'string'; enum: readonly ['a', 'b'] }>>()
      .toEqualTypeOf<'a' | 'b'>();
    expectTypeOf<Accepted<{ const: true }>>().toEqualTypeOf<true>();
    expectTypeOf<Accepted<{ anyOf: readonly [{ type: 'string' }, { const: 5 }] }>>()
      .toEqualTypeOf<string | 5>();
    expectTypeOf<Accepted<{ oneOf: readonly [{ type: 'null' }, { type: 'boolean' }] }>>()
      .toEqualTypeOf<boolean | null>();
  });

  test('C3.5 what is not known narrows nothing', () => {
    expectTypeOf<Accepted<true>>().toEqualTypeOf<unknown>();
    expectTypeOf<Accepted<false>>().toEqualTypeOf<never>();
    expectTypeOf<Accepted<{ $ref: '#/$defs/a' }>>().toEqualTypeOf<unknown>();
    expectTypeOf<Accepted<{ not: { type: 'string' } }>>().toEqualTypeOf<unknown>();
    expectTypeOf<Accepted<{ properties: { a: { type: 'string' } } }>>().toEqualTypeOf<unknown>();
    expectTypeOf<Accepted<{ type: string }>>().toEqualTypeOf<unknown>();
    expectTypeOf<Accepted<Record<string, unknown>>>().toEqualTypeOf<unknown>();
    expectTypeOf<Accepted<{ anyOf: readonly [{ type: 'string' }, { $ref: '#' }] }>>()
      .toEqualTypeOf<unknown>();
    expectTypeOf<Accepted<{ type: 'array'; prefixItems: readonly []; items: false }>>()
      .toEqualTypeOf<unknown[]>();
    interface Loose {
      type: 'object';
      properties: { a: { type: 'string' } };
      required: string[];
    }
    expectTypeOf<Accepted<Loose>>().toEqualTypeOf<{ a?: string }>();
  });

  test('C3.5 objects, nested', () => {
    const schema = {
      type: 'object',
      properties: {
        city: { type: 'string' },
        unit: { enum: ['C', 'F'] },
        stops: {
          type: 'array',
          items: {
            type: 'object',
            properties: { at: { type: ['integer', 'null'] }, note: {} },
            required: ['at'],
          },
        },
      },
      required: ['city', 'stranger'],
      additionalProperties: false,
    } as const;
    interface Trip {
      city: string;
      unit?: 'C' | 'F';
      stops?: { at: number | null; note?: unknown }[];
    }
    expectTypeOf<FromSchema<typeof schema>>().toEqualTypeOf<Trip>();
    defineTool({
      ...base,
      parameters: schema,
      execute: (args) => {
        expectTypeOf(args).toEqualTypeOf<Trip>();
      },
    });
  });

  test('C3.5 a schema written in place needs no as const', () => {
    defineTool({
      ...base,
      parameters: {
        type: 'object',
        properties: { path: { type: 'string' }, depth: { type: 'integer' } },
        required: ['path'],
      },
      execute: (args, { signal }) => {
        expectTypeOf(args).toEqualTypeOf<{ path: string; depth?: number }>();
        expectTypeOf(signal).toEqualTypeOf<AbortSignal | undefined>();
        return { lines: 1 };
      },
      render: (value) => {
        expectTypeOf(value).toEqualTypeOf<{ lines: number }>();
        return '';
      },
    });
    defineTool({
      ...base,
      parameters: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
      // @ts-expect-error -- n is a number
      execute: ({ n }: { n: string }) => n,
    });
  });

  test('C3.5 what was written before still has unknown arguments', () => {
    const parameters: Record<string, unknown> = { type: 'object' };
    defineTool({
      ...base,
      parameters,
      execute: (args) => {
        expectTypeOf(args).toEqualTypeOf<unknown>();
      },
    });
    defineTool<number>({
      ...base,
      parameters: { type: 'object' },
      execute: (args) => {
        expectTypeOf(args).toEqualTypeOf<unknown>();
        return 1;
      },
      render: (value) => value.toFixed(),
    });
    expectTypeOf<Parameters<ToolDefinition['execute']>[0]>().toEqualTypeOf<unknown>();
  });
});
