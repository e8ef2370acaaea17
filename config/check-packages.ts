/**
 * Packs every package as it would be published and checks the tarballs: publint, the types
 * under every kind of resolution, and that the files a user needs are in them.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const needed = ['package/LICENSE', 'package/README.md', 'package/dist/index.js', 'package/dist/index.d.ts'];
const bin = (name: string): string => join(import.meta.dirname, '../node_modules/.bin', name);
const folder = mkdtempSync(join(tmpdir(), 'celestea-pack-'));

const run = (command: string, args: string[]): string => {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(' ')}\n${stdout ?? ''}${stderr ?? ''}`, { cause: error });
  }
};

try {
  run('npx', ['-y', 'pnpm@10', '-r', 'pack', '--pack-destination', folder]);
  const tarballs = readdirSync(folder).sort();
  if (tarballs.length === 0) throw new Error('no package was packed');
  for (const name of tarballs) {
    const tarball = join(folder, name);
    const files = new Set(run('tar', ['-tzf', tarball]).split('\n'));
    const missing = needed.filter((file) => !files.has(file));
    if (missing.length > 0) throw new Error(`${name} lacks ${missing.join(', ')}`);
    run(bin('publint'), ['run', tarball, '--strict']);
    run(bin('attw'), [tarball, '--profile', 'esm-only']);
    console.log(`${name}: complete, publint and types are fine`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
