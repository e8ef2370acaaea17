import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';

import type { Benchmark } from './benchmarks/benchmark.ts';
import { concurrency } from './benchmarks/concurrency.ts';
import { footprint } from './benchmarks/footprint.ts';
import { sessionLog } from './benchmarks/session-log.ts';
import { steps } from './benchmarks/steps.ts';
import { streaming } from './benchmarks/streaming.ts';
import { trimming } from './benchmarks/trimming.ts';
import type { Effort } from './compare.ts';
import { hasPeers, prepare, ROOT } from './prepare.ts';
import { profile, PROFILES } from './profile.ts';
import { renderReport } from './report.ts';
import { renderTable, type Table } from './table.ts';

const BENCHMARKS: Record<string, Benchmark> = {
  streaming,
  steps,
  trimming,
  concurrency,
  footprint,
  'session-log': sessionLog,
};

const USAGE = `Usage: pnpm bench [options]

  --only NAME      one benchmark (may be repeated): ${Object.keys(BENCHMARKS).join(', ')}
  --quick          fewer runs
  --no-peers       without the other libraries
  --write          write docs/performance.md also when this is no full run
  --no-build       take the built library as it is
  --profile NAME   profile this library instead: ${Object.keys(PROFILES).join(', ')}
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    quick: { type: 'boolean', default: false },
    'no-peers': { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    'no-build': { type: 'boolean', default: false },
    profile: { type: 'string', multiple: true },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  process.stdout.write(USAGE);
} else {
  await main();
}

async function main(): Promise<void> {
  const peers = !values['no-peers'] && values.profile === undefined;
  if (peers && !hasPeers()) {
    throw new Error('the other libraries are not installed: run `pnpm bench`, or use --no-peers');
  }
  await prepare({ build: !values['no-build'], peers });
  if (values.profile !== undefined) {
    for (const name of values.profile) process.stdout.write(`${await profile(name)}\n\n`);
    return;
  }
  const effort = values.quick
    ? { rounds: 3, processes: 1, warmUps: 1, warmUpMs: 1_500, peers, scale: 0.1 }
    : { rounds: 9, processes: 3, warmUps: 3, warmUpMs: 2_000, peers, scale: 1 };
  const tables = await measure(values.only ?? Object.keys(BENCHMARKS), effort);
  process.stdout.write(`${tables.map(renderTable).join('\n')}\n`);
  const isFull = values.only === undefined && !values.quick && peers;
  if (isFull || values.write) write(renderReport(tables, effort));
}

async function measure(names: readonly string[], effort: Effort): Promise<Table[]> {
  const tables: Table[] = [];
  for (const name of names) {
    const benchmark = BENCHMARKS[name];
    if (benchmark === undefined) {
      throw new TypeError(`--only: expected ${Object.keys(BENCHMARKS).join(', ')}, got ${name}`);
    }
    process.stderr.write(`${name}\n`);
    tables.push(...(await benchmark(effort)));
  }
  return tables;
}

function write(report: string): void {
  const folder = join(ROOT, 'docs');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'performance.md'), report);
}
