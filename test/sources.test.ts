import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

test('L2.4 one place in the sources writes turn_end', () => {
  const sources = new URL('../src/', import.meta.url);
  const places = readdirSync(sources)
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => readFileSync(new URL(file, sources), 'utf8').split('\n'))
    .filter((line) => line.includes("type: 'turn_end'"));
  expect(places).toHaveLength(1);
});

/** The TypeScript files below a folder, from the root. */
const filesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.includes('node_modules'))
    .map((file) => join(folder, file));

/** What a file imports of its own package, of types as well. */
const importsOf = (file: string): string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/\bfrom '(\.[^']*)'/g)].map(([, to = '']) =>
    join(dirname(file), to),
  );

/** The first ring of imports below a file; `null` when there is none. */
function ringFrom(file: string, path: readonly string[], done: Set<string>): string[] | null {
  if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
  if (done.has(file)) return null;
  for (const to of importsOf(file).filter((each) => /\.tsx?$/.test(each))) {
    const ring = ringFrom(to, [...path, file], done);
    if (ring !== null) return ring;
  }
  done.add(file);
  return null;
}

const packages = readdirSync(join(root, 'packages')).map((name) => `packages/${name}`);

test.each(['src', ...packages.map((each) => `${each}/src`)])(
  'no file of %s is imported by what it imports, not for its types either',
  (folder) => {
    const done = new Set<string>();
    for (const file of filesIn(folder)) expect(ringFrom(file, [], done)).toBe(null);
  },
);
