import { execFileSync } from 'node:child_process';
import process from 'node:process';
import { gzipSync } from 'node:zlib';

import { build } from 'esbuild';

import type { Effort } from '../compare.ts';
import { BENCH, ROOT, workerFile } from '../prepare.ts';
import { median } from '../statistics.ts';
import { amount, type Table } from '../table.ts';
import type { Benchmark } from './benchmark.ts';

/** Fresh processes for each import. */
const IMPORTS = 15;

const OURS = ['@celestea/agent-loop', '@celestea/session', '@celestea/tools'];
const PEERS = ['ai', '@openai/agents', '@mariozechner/pi-agent-core', 'langchain'];

export const footprint: Benchmark = async (effort) => [await size(), importTimes(effort)];

async function size(): Promise<Table> {
  const { outputFiles } = await build({
    stdin: { contents: "export * from './src/index.ts'", resolveDir: ROOT, loader: 'ts' },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
  });
  const bytes = outputFiles[0]?.contents ?? new Uint8Array();
  const compressed = gzipSync(bytes, { level: 9 }).length;
  return {
    title: 'Size',
    text: 'Bytes of `@celestea/agent-loop` with `@celestea/core`, everything that it exports.',
    columns: ['', 'minified', 'gzipped'],
    rows: [['`@celestea/agent-loop`', amount(bytes.length), amount(compressed)]],
  };
}

function importTimes({ peers, rounds }: Effort): Table {
  const empty = workerFile('empty');
  const names = peers ? [...OURS, ...PEERS] : OURS;
  const samples = new Map([empty, ...names].map((name): [string, number[]] => [name, []]));
  const imports = Math.max(rounds, rounds > 3 ? IMPORTS : 3);
  for (let round = 0; round < imports; round += 1) {
    for (const [name, times] of samples) times.push(importTime(name));
  }
  const base = median(samples.get(empty) ?? []);
  const rows = names.map((name) => {
    return [`\`${name}\``, amount(median(samples.get(name) ?? []) - base)];
  });
  const text =
    'Milliseconds that an `import` takes in a fresh process, above that of an empty module; ' +
    `median of ${String(imports)}.`;
  return { title: 'Import', text, columns: ['', 'ms'], rows };
}

function importTime(name: string): number {
  const file = workerFile('import-time');
  const env = { PATH: process.env['PATH'], NODE_ENV: 'production' };
  const options = { cwd: BENCH, env, encoding: 'utf8' } as const;
  return Number(execFileSync(process.execPath, [file, name], options));
}
