import { readFileSync } from 'node:fs';
import { arch, cpus, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

import { SLOW_ROUNDS, type Effort } from './compare.ts';
import { BENCH } from './prepare.ts';
import { renderTable, type Table } from './table.ts';

/**
 * The whole report, in Markdown; `notes.md`, written by hand, says what the figures mean, and
 * `load.md` is what `pnpm load` wrote last.
 */
export function renderReport(tables: readonly Table[], effort: Effort): string {
  return [
    '# Performance',
    '',
    'This file is written by `pnpm bench`. Each library runs in processes of its own and is driven',
    'by the same script: the same deltas, the same tool calls, a signal that never fires, no',
    'tracing, no network. The runs of all of them take turns, and each figure is the median of',
    `${runs(effort)}. Compare the figures`,
    'of one table with each other; on another machine all of them are different.',
    '',
    ...machine(),
    '',
    ...tables.map(renderTable),
    readFileSync(join(BENCH, 'notes.md'), 'utf8'),
    readFileSync(join(BENCH, 'load.md'), 'utf8').trimEnd(),
    '',
  ].join('\n');
}

function runs({ rounds, processes, warmUps }: Effort): string {
  const least = rounds > SLOW_ROUNDS ? ` (${String(SLOW_ROUNDS)} of what is slow)` : '';
  const counted = `${String(rounds)} runs${least}, after at least ${String(warmUps)} that do not count`;
  return `${counted}; ours and the limits are the median of\n${String(processes)} processes`;
}

function machine(): string[] {
  const cores = cpus();
  const { dependencies } = JSON.parse(readFileSync(join(BENCH, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const versions = Object.entries(dependencies).map(([name, version]) => `\`${name}\` ${version}`);
  const gibibytes = Math.round(totalmem() / 2 ** 30);
  const model = cores[0]?.model.trim() ?? 'unknown processor';
  return [
    `- Date: ${new Date().toISOString().slice(0, 10)}`,
    `- Machine: ${String(cores.length)} × ${model}, ${String(gibibytes)} GiB`,
    `- System: ${platform()} ${release()} ${arch()}`,
    `- Node ${process.version}`,
    `- Versions: ${versions.join(', ')}`,
  ];
}
