/**
 * Packs every package as it would be published and checks the tarballs: publint, the types
 * under every kind of resolution, that the files a user needs are in them, and that they declare
 * what `contracts/api.json` says. Then they are installed and used, from the oldest and the newest
 * TypeScript; with `--all` from each.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

import { agreedApi, apiDifferences, packedApi } from './api.ts';
import { run } from './run.ts';
import { COMPILERS, usePackages } from './use-packages.ts';

const needed = ['package/LICENSE', 'package/README.md', 'package/dist/index.js', 'package/dist/index.d.ts'];
const bin = (name: string): string => join(import.meta.dirname, '../node_modules/.bin', name);
const folder = mkdtempSync(join(tmpdir(), 'celestea-pack-'));

function checkApi(tarball: string, name: string): void {
  const unpacked = join(folder, name.replace(/\.tgz$/, ''));
  mkdirSync(unpacked);
  run('tar', ['-xzf', tarball, '-C', unpacked]);
  const found = packedApi(join(unpacked, 'package'));
  const [entry = name] = Object.keys(found);
  const differences = apiDifferences(agreedApi(entry), found);
  if (differences.length === 0) return;
  throw new Error(`${name} differs from contracts/api.json:\n${differences.join('\n')}`);
}

try {
  run('npx', ['-y', 'pnpm@10', '-r', 'pack', '--pack-destination', folder]);
  const tarballs = readdirSync(folder).sort(); // before any is unpacked beside them
  if (tarballs.length === 0) throw new Error('no package was packed');
  for (const name of tarballs) {
    const tarball = join(folder, name);
    const files = new Set(run('tar', ['-tzf', tarball]).split('\n'));
    const missing = needed.filter((file) => !files.has(file));
    if (missing.length > 0) throw new Error(`${name} lacks ${missing.join(', ')}`);
    checkApi(tarball, name);
    run(bin('publint'), ['run', tarball, '--strict']);
    run(bin('attw'), [tarball, '--profile', 'esm-only']);
    console.log(`${name}: complete, as agreed, publint and types are fine`);
  }
  const user = join(folder, 'user');
  mkdirSync(user);
  const all = process.argv.includes('--all');
  const versions = all ? COMPILERS : COMPILERS.toSpliced(1, COMPILERS.length - 2);
  usePackages(
    tarballs.map((name) => join(folder, name)),
    user,
    versions,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
