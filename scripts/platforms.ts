/**
 * Runs the whole test suite on several versions of Node, which come out of the package registry,
 * one after the other; `pnpm platforms [VERSION…]`. With `--write` the table goes to
 * `docs/platforms.md`.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';

import { run } from './run.ts';

const ROOT = join(import.meta.dirname, '..');
const PAGE = join(ROOT, 'docs/platforms.md');
const TABLE = /(?<=<!-- table -->\n)[^]*(?=<!-- end -->)/;
const MINIMUM = '20.19.0';

/** What one version came to. */
interface Row {
  readonly version: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly seconds: number;
}

/** What vitest's JSON reporter says, of which the rest is not needed. */
interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean', default: false } },
});
const versions = positionals.length > 0 ? positionals : [MINIMUM, '20', '22', '24'];
const folder = mkdtempSync(join(tmpdir(), 'celestea-platforms-'));
try {
  const rows = versions.map(testOn);
  const table = tableOf(rows);
  console.log(table);
  if (values.write) {
    writeFileSync(PAGE, readFileSync(PAGE, 'utf8').replace(TABLE, () => `\n${table.trim()}\n\n`));
  }
  if (rows.some(({ failed, passed }) => failed > 0 || passed === 0)) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The package of a platform has the binary and no script that would have to run. */
function nodeOf(version: string): string {
  const name = `node-${process.platform}-${process.arch}`;
  const place = join(folder, version);
  run('npm', ['install', '--no-audit', '--no-fund', '--prefix', place, `${name}@${version}`]);
  return join(place, 'node_modules', name, 'bin/node');
}

function testOn(version: string): Row {
  const node = nodeOf(version);
  const exact = run(node, ['--version']).trim();
  console.log(`\n== Node ${exact}`);
  const report = join(folder, `${version}.json`);
  const start = performance.now();
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${report}`];
  spawnSync(node, [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', ...reporters], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, PATH: `${join(node, '..')}:${process.env['PATH'] ?? ''}` },
  });
  const seconds = Math.round((performance.now() - start) / 1000);
  const found = JSON.parse(readFileSync(report, 'utf8')) as Report;
  const { numPassedTests: passed, numFailedTests: failed, numPendingTests: skipped } = found;
  return { version: exact, passed, failed, skipped, seconds };
}

function tableOf(rows: readonly Row[]): string {
  const head = '| Node | passed | failed | skipped | seconds |\n| --- | ---: | ---: | ---: | ---: |';
  const line = ({ version, passed, failed, skipped, seconds }: Row): string =>
    `| ${[version, passed, failed, skipped, seconds].join(' | ')} |`;
  return [head, ...rows.map(line)].join('\n');
}
