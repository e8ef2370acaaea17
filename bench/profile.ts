import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { performance } from 'node:perf_hooks';

import { DIST } from './prepare.ts';
import type { Order } from './protocol.ts';
import { Worker } from './worker.ts';

/** What can be profiled, and the run that stands for it. */
export const PROFILES: Record<string, Order & { worker: string }> = {
  streaming: ours('sink', { steps: 0, deltas: 50_000, turns: 1 }),
  pull: ours('pull', { steps: 0, deltas: 50_000, turns: 1 }),
  steps: ours('sink', { steps: 200, deltas: 1, turns: 1 }),
  'bare-tools': ours('bare-tools', { steps: 200, deltas: 1, turns: 1 }),
  'long-turn': ours('sink', { steps: 1_600, deltas: 1, turns: 1 }),
  narrow: ours('narrow', { steps: 200, deltas: 1, turns: 1 }),
  concurrency: ours('sink', { steps: 0, deltas: 200, turns: 1_000 }),
  trimming: { worker: 'trim-ours', case: 'trim', parameters: { messages: 10_000 } },
  append: { worker: 'log-ours', case: 'append', parameters: { rows: 20_000 } },
  reopen: { worker: 'log-ours', case: 'reopen', parameters: { rows: 100_000 } },
};

function ours(way: string, parameters: Order['parameters']): Order & { worker: string } {
  return { worker: 'ours', case: `${way}:turns`, parameters };
}

const SECONDS = 4;
const TOP = 15;

interface CpuProfile {
  nodes: { id: number; callFrame: CallFrame }[];
  samples: number[];
  timeDeltas: number[];
}

interface CallFrame {
  functionName: string;
  url: string;
  lineNumber: number;
}

/** Profiles one run over and over; the functions that took most of the time themselves. */
export async function profile(name: string): Promise<string> {
  const order = PROFILES[name];
  if (order === undefined) {
    throw new TypeError(`--profile: expected ${Object.keys(PROFILES).join(', ')}, got ${name}`);
  }
  const folder = mkdtempSync(join(tmpdir(), 'celestea-profile-'));
  const flags = ['--cpu-prof', `--cpu-prof-dir=${folder}`, '--cpu-prof-interval=200'];
  const worker = new Worker(order.worker, flags);
  const end = performance.now() + SECONDS * 1_000;
  while (performance.now() < end) await worker.run(order);
  await worker.stop();
  const file = join(folder, readdirSync(folder)[0] ?? '');
  const recorded = JSON.parse(readFileSync(file, 'utf8')) as CpuProfile;
  return [`${name}: ${file}`, ...topFunctions(recorded)].join('\n');
}

function topFunctions({ nodes, samples, timeDeltas }: CpuProfile): string[] {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const selfTimes = new Map<string, number>();
  let total = 0;
  samples.forEach((id, index) => {
    const name = names.get(id) ?? '';
    if (name.startsWith('(idle)')) return;
    const spent = timeDeltas[index] ?? 0;
    selfTimes.set(name, (selfTimes.get(name) ?? 0) + spent);
    total += spent;
  });
  return [...selfTimes]
    .sort(([, a], [, b]) => b - a)
    .slice(0, TOP)
    .map(([name, spent]) => `${((spent / total) * 100).toFixed(1).padStart(6)} %  ${name}`);
}

function nameOf({ functionName, url, lineNumber }: CallFrame): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  if (url === '') return name;
  const file = relative(DIST, url.replace(/^file:\/\//, '')).replace('node_modules/', '');
  return `${name}  ${file}:${String(lineNumber + 1)}`;
}
