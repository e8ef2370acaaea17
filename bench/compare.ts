import { performance } from 'node:perf_hooks';
import process from 'node:process';

import type { Figures } from './protocol.ts';
import { median } from './statistics.ts';
import { Worker } from './worker.ts';

/** One thing that is measured against others, in processes of its own. */
export interface Contender {
  readonly label: string;
  /** The file of its worker, without extension. */
  readonly worker: string;
  readonly case: string;
  readonly parameters: Figures;
  /** Not measured with `--no-peers`. */
  readonly peer?: true;
}

export interface Effort {
  /** Runs that count, of each process; the medians are of these. */
  readonly rounds: number;
  /**
   * Processes for each of ours and of the limits, which are so fast that it shows how well a process
   * happened to be compiled; the figure is the median of theirs. A peer has one.
   */
  readonly processes: number;
  /** Runs before them that do not; more until {@link warmUpMs} have passed. */
  readonly warmUps: number;
  /** Milliseconds that a warm-up takes at least. */
  readonly warmUpMs: number;
  readonly peers: boolean;
  /** The part of each size that is measured; 1 but for a quick look. */
  readonly scale: number;
}

/** The median of each figure, or why there are none. */
export type Measured = { ok: true; figures: Figures } | { ok: false; message: string };

export type Measurements = ReadonlyMap<string, Measured>;

/** A contender this slow is warm after one run, and gets no more than {@link SLOW_ROUNDS}. */
const SLOW_RUN_MS = 4_000;
export const SLOW_ROUNDS = 7;

interface Lane {
  readonly contender: Contender;
  readonly worker: Worker;
  readonly runs: Figures[];
  isSlow: boolean;
  fault: string | null;
}

/**
 * Runs the contenders in turn, round by round, so that whatever else the machine does falls on
 * all of them alike.
 */
export async function compare(
  contenders: readonly Contender[],
  effort: Effort,
): Promise<Measurements> {
  const lanes = contenders
    .filter(({ peer }) => effort.peers || peer === undefined)
    .flatMap((contender) =>
      Array.from({ length: contender.peer === true ? 1 : effort.processes }, (): Lane => {
        const worker = new Worker(contender.worker);
        return { contender, worker, runs: [], isSlow: false, fault: null };
      }),
    );
  try {
    for (const lane of lanes) await warmUp(lane, effort);
    for (let round = 0; round < effort.rounds; round += 1) {
      for (const lane of lanes) if (!lane.isSlow || round < SLOW_ROUNDS) await runOnce(lane);
    }
  } finally {
    await Promise.all(lanes.map(({ worker }) => worker.stop()));
  }
  const labels = [...new Set(lanes.map(({ contender }) => contender.label))];
  return new Map(
    labels.map((label) => {
      const same = lanes.filter(({ contender }) => contender.label === label);
      return [label, middle(same.map(measured))];
    }),
  );
}

/** The median of what several processes came to. */
function middle(several: readonly Measured[]): Measured {
  const fault = several.find(({ ok }) => !ok);
  if (fault !== undefined) return fault;
  return medians(several.map((one) => (one.ok ? one.figures : {})));
}

async function warmUp(lane: Lane, { warmUps, warmUpMs }: Effort): Promise<void> {
  const { label, parameters } = lane.contender;
  const end = performance.now() + warmUpMs;
  for (let index = 0; index < warmUps || performance.now() < end; index += 1) {
    if (lane.fault !== null) break;
    const start = performance.now();
    await runOnce(lane);
    lane.isSlow = performance.now() - start > SLOW_RUN_MS;
    if (lane.isSlow) break;
  }
  const last = lane.fault ?? JSON.stringify(lane.runs.at(-1));
  process.stderr.write(`  ${label} ${JSON.stringify(parameters)}: ${last}\n`);
  lane.runs.length = 0;
}

async function runOnce(lane: Lane): Promise<void> {
  if (lane.fault !== null) return;
  const { case: name, parameters } = lane.contender;
  try {
    lane.runs.push(await lane.worker.run({ case: name, parameters }));
  } catch (error) {
    lane.fault = error instanceof Error ? error.message : String(error);
  }
}

function measured({ runs, fault }: Lane): Measured {
  return fault === null ? medians(runs) : { ok: false, message: fault };
}

function medians(runs: readonly Figures[]): Measured {
  const names = Object.keys(runs[0] ?? {});
  const figures = names.map((name) => [name, median(runs.map((run) => run[name] ?? NaN))] as const);
  return { ok: true, figures: Object.fromEntries(figures) };
}

/** One figure; `NaN` when it was not measured. */
export function figure(measurements: Measurements, label: string, name = 'ms'): number {
  const found = measurements.get(label);
  return found?.ok === true ? (found.figures[name] ?? NaN) : NaN;
}
