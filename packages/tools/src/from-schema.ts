/**
 * The type of the values that a literal JSON Schema accepts. It knows `type`, `properties`,
 * `required`, `items`, `enum`, `const`, `anyOf` and `oneOf`; what it does not know narrows
 * nothing, so the type is never narrower than the schema, and `unknown` where nothing is known.
 *
 * @example FromSchema<{ type: 'array'; items: { enum: ['a', 'b'] } }> // ('a' | 'b')[]
 */
export type FromSchema<Schema> = Schema extends false
  ? never
  : OfConst<Schema> &
      OfEnum<Schema> &
      OfType<Schema> &
      OfAlternatives<Schema, 'anyOf'> &
      OfAlternatives<Schema, 'oneOf'>;

type OfConst<Schema> = Schema extends { readonly const: infer Value } ? Value : unknown;

type OfEnum<Schema> = Schema extends { readonly enum: readonly (infer Value)[] } ? Value : unknown;

type OfAlternatives<Schema, Keyword extends string> =
  Schema extends Readonly<Record<Keyword, readonly (infer Option)[]>> ? OfEach<Option> : unknown;

type OfEach<Option> = Option extends unknown ? FromSchema<Option> : never;

type OfType<Schema> = Schema extends { readonly type: readonly (infer Name)[] }
  ? OfName<Schema, Name>
  : Schema extends { readonly type: infer Name }
    ? OfName<Schema, Name>
    : unknown;

type OfName<Schema, Name> = Name extends 'string'
  ? string
  : Name extends 'number' | 'integer'
    ? number
    : Name extends 'boolean'
      ? boolean
      : Name extends 'null'
        ? null
        : Name extends 'array'
          ? ArrayOf<Schema>
          : Name extends 'object'
            ? ObjectOf<Schema>
            : unknown;

/** With `prefixItems`, `items` speaks of the rest alone. */
type ArrayOf<Schema> = Schema extends { readonly prefixItems: unknown }
  ? unknown[]
  : Schema extends { readonly items: infer Item }
    ? FromSchema<Item>[]
    : unknown[];

type ObjectOf<Schema> = Schema extends { readonly properties: infer Properties }
  ? Flat<
      {
        -readonly [Name in keyof Properties as Name extends RequiredOf<Schema>
          ? Name
          : never]: FromSchema<Properties[Name]>;
      } & {
        -readonly [Name in keyof Properties as Name extends RequiredOf<Schema>
          ? never
          : Name]?: FromSchema<Properties[Name]>;
      }
    >
  : Record<string, unknown>;

/** A list that is no literal (`string[]`) says nothing of a single name. */
type RequiredOf<Schema> = Schema extends { readonly required: readonly (infer Name)[] }
  ? string extends Name
    ? never
    : Name
  : never;

type Flat<Fields> = { [Name in keyof Fields]: Fields[Name] };
