import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, expect, test } from 'vitest';

import {
  agreedApi,
  apiDifferences,
  packageFolders,
  packedApi,
  sourceApi,
  type Api,
} from '../scripts/api.ts';

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A package of these files, with one entry point. */
function packageOf(entry: string | { types: string }, files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'api-'));
  folders.push(folder);
  mkdirSync(join(folder, 'src'));
  const exports = { '.': entry, './package.json': './package.json' };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: '@a/b', exports }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

test('the sources export what contracts/api.json says; `pnpm api` writes what they export', () => {
  const found = Object.assign({}, ...packageFolders.map(sourceApi)) as Api;
  expect(apiDifferences(agreedApi(), found)).toEqual([]);
});

test('a surface is the names of an entry point with their declarations, private parts left out', () => {
  const folder = packageOf('./src/index.ts', {
    'src/index.ts': `
      export { two as second, type Shape } from './middle.ts';
      export type { Other } from '@a/other';
      /** Not part of it: comments. */
      export const LIMIT: number = 3;
    `,
    'src/middle.ts': "export { two, type Shape } from './inside.ts'; export const hidden: 1 = 1;",
    'src/inside.ts': `
      export function two(a: string): string;
      export function two(a: number): number;
      export function two(a: unknown): unknown { return a; }
      export class Shape {
        #size = 1;
        private old = 2;
        area(side?: number): number { return side ?? this.#size + this.old; }
      }
    `,
  });
  expect(sourceApi(folder)).toEqual({
    '@a/b': {
      LIMIT: 'const LIMIT: number;',
      Other: 'Other of @a/other',
      Shape: 'class Shape { #private; private old; area(side?: number): number; }',
      second: 'function two(a: string): string; function two(a: number): number;',
    },
  });
});

test('what is packed is read from its declarations', () => {
  const folder = packageOf(
    { types: './src/index.d.ts' },
    {
      'src/index.d.ts': "export { one } from './one.ts';",
      'src/one.d.ts': 'export declare const one: 1;',
    },
  );
  expect(packedApi(folder)).toEqual({ '@a/b': { one: 'const one: 1;' } });
});

test('what differs is named: an entry point, a name, a signature', () => {
  const agreed = { a: { x: '1', y: '2' }, b: { z: '3' } };
  const found = { a: { y: '2', x: '0', w: '4' }, c: { v: '5' } };
  const expected = ['a: w added', 'a: x changed', 'b: z gone', 'c: v added'];
  expect(apiDifferences(agreed, found)).toEqual(expected);
  expect(apiDifferences(agreed, agreed)).toEqual([]);
});

test('a surface that cannot be told is refused: stars, and names that are not there', () => {
  const star = packageOf('./src/index.ts', { 'src/index.ts': "export * from './x.ts';" });
  expect(() => sourceApi(star)).toThrow('expected exports by name');
  const gone = packageOf('./src/index.ts', {
    'src/index.ts': "export { y } from './x.ts';",
    'src/x.ts': 'export const x: 1 = 1;',
  });
  expect(() => sourceApi(gone)).toThrow('./x.ts has no y');
});
