import { compare, figure } from '../compare.ts';
import { amount, times } from '../table.ts';
import type { Benchmark } from './benchmark.ts';
import {
  contenders,
  LIMIT,
  LIMIT_DRIVER,
  PEERS,
  PULL_DRIVER,
  RACING_DRIVER,
  SINK_DRIVER,
} from './contenders.ts';

const TURNS = 1_000;
const DELTAS = 200;

export const concurrency: Benchmark = async (effort) => {
  const count = TURNS * effort.scale;
  const drivers = [LIMIT_DRIVER, SINK_DRIVER, PULL_DRIVER, RACING_DRIVER, ...PEERS];
  const parameters = { steps: 0, deltas: DELTAS, turns: count };
  const speed = await compare(contenders(drivers, 'turns', parameters), effort);
  // a heap does not depend on luck
  const few = { ...effort, rounds: 3, processes: 1, warmUps: 1, warmUpMs: 0 };
  const heap = await compare(contenders(drivers, 'heap', parameters), few);
  const limit = figure(speed, LIMIT);
  const rows = [...speed.keys()].map((label) => {
    const ms = figure(speed, label);
    const bytes = figure(heap, label, 'bytes');
    const limitBytes = figure(heap, LIMIT, 'bytes');
    return [label, amount(ms), times(ms, limit), amount(bytes / 1_024), times(bytes, limitBytes)];
  });
  const text =
    `${amount(count)} turns at once, each a reply of ${String(DELTAS)} deltas: milliseconds for ` +
    'all of them, and the heap that a turn holds when all are halfway through.';
  const columns = ['', 'ms', 'limit', 'KiB a turn', 'limit'];
  return [{ title: 'Concurrent turns', text, columns, rows }];
};
