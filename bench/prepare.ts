import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import process from 'node:process';

import { build } from 'esbuild';

export const BENCH: string = import.meta.dirname;
export const ROOT: string = join(BENCH, '..');
export const DIST: string = join(BENCH, 'dist');

/** Where each package of the library stands, by name. */
const PACKAGES = {
  '@celestea/agent-loop': ROOT,
  '@celestea/core': join(ROOT, 'packages/core'),
  '@celestea/session': join(ROOT, 'packages/session'),
  '@celestea/tools': join(ROOT, 'packages/tools'),
};

/** Whether the peers are installed; they are dependencies of bench alone. */
export const hasPeers = (): boolean => existsSync(join(BENCH, 'node_modules/ai'));

/** Builds the library, installs it as its users would get it, and compiles the workers. */
export async function prepare(options: { build: boolean; peers: boolean }): Promise<void> {
  if (options.build) {
    const runner = join(ROOT, 'node_modules/tsx/dist/cli.mjs');
    const stdio: ['ignore', 2, 2] = ['ignore', 2, 2];
    execFileSync(process.execPath, [runner, 'scripts/build.ts'], { cwd: ROOT, stdio });
  }
  rmSync(DIST, { recursive: true, force: true });
  for (const [name, folder] of Object.entries(PACKAGES)) installBuilt(name, folder);
  await compileWorkers(options.peers ? ['workers', 'peers'] : ['workers']);
}

/**
 * A copy with the exports of the published package: through a link Node would find the sources
 * of the workspace again. What the package depends on besides is found where it came from.
 */
function installBuilt(name: string, folder: string): void {
  const target = join(DIST, 'node_modules', name);
  mkdirSync(target, { recursive: true });
  cpSync(join(folder, 'dist'), join(target, 'dist'), { recursive: true });
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    version: string;
    publishConfig: { exports: unknown };
  };
  const { version, publishConfig } = manifest;
  const published = { name, version, type: 'module', exports: publishConfig.exports };
  writeFileSync(join(target, 'package.json'), JSON.stringify(published));
}

/** One plain JavaScript file a worker, so that no loader runs in what is measured. */
async function compileWorkers(folders: readonly string[]): Promise<void> {
  const entryPoints = folders.flatMap((folder) =>
    readdirSync(join(BENCH, folder)).map((file) => join(BENCH, folder, file)),
  );
  await build({
    entryPoints,
    outdir: DIST,
    entryNames: '[name]',
    bundle: true,
    packages: 'external',
    tsconfigRaw: {}, // the paths of tsconfig.json lead to sources, which would be bundled
    platform: 'node',
    target: 'node20',
    format: 'esm',
    logLevel: 'warning',
  });
}

export const workerFile = (name: string): string => join(DIST, `${basename(name, '.ts')}.js`);
