/**
 * Builds what is published: the types of every source file by the compiler, and the code of each
 * entry point as one file, for a package of sixty small files takes thirty times as long to
 * import. Builds the package whose folder is given, or all of them.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';

import { build } from 'esbuild';

import { buildPage } from './page.ts';

const root = join(import.meta.dirname, '..');
const host = join(root, 'packages/host');
const packages = [root, ...readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name))];

interface Manifest {
  readonly publishConfig: {
    readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
    readonly bin?: Readonly<Record<string, string>>;
  };
}

const [given] = process.argv.slice(2);
const folders = given === undefined ? packages : [resolve(given)];
if (!folders.every((folder) => packages.includes(folder))) {
  throw new TypeError(`expected the folder of a package, got ${String(given)}`);
}
const project = given === undefined ? join(root, 'scripts/all.json') : projectOf(resolve(given));
const compiler = join(root, 'node_modules/typescript/bin/tsc');
execFileSync(process.execPath, [compiler, '-b', project], { stdio: 'inherit' });
await Promise.all(folders.map(bundle));
if (folders.includes(host)) await buildPage(); // into the same folder, which was cleared above

function projectOf(folder: string): string {
  return join(folder, folder === root ? 'scripts/agent-loop.json' : 'tsconfig.build.json');
}

/** The parts that entry points share are files of their own, so that each is there once. */
async function bundle(folder: string): Promise<void> {
  const dist = join(folder, 'dist');
  for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (/\.js(\.map)?$/.test(file)) rmSync(join(dist, file));
  }
  await build({
    entryPoints: entryPoints(folder),
    outdir: dist,
    outbase: join(folder, 'src'),
    chunkNames: 'shared-[hash]',
    bundle: true,
    splitting: true,
    packages: 'external',
    tsconfigRaw: {}, // the paths of tsconfig.json lead to the sources of other packages
    platform: 'neutral',
    format: 'esm',
    target: 'es2023',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
  });
}

function entryPoints(folder: string): string[] {
  const text = readFileSync(join(folder, 'package.json'), 'utf8');
  const { exports, bin = {} } = (JSON.parse(text) as Manifest).publishConfig;
  const built = Object.values(exports).flatMap((entry) =>
    typeof entry === 'string' ? [] : [entry.default],
  );
  return [...built, ...Object.values(bin)].map((file) =>
    join(folder, file.replace(/^\.\/dist\//, 'src/').replace(/\.js$/, '.ts')),
  );
}
