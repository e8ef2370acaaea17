import { compare, figure } from '../compare.ts';
import { amount, times } from '../table.ts';
import type { Benchmark } from './benchmark.ts';
import {
  contenders,
  LIMIT,
  LIMIT_DRIVER,
  PEERS,
  PULL_DRIVER,
  QUEUE_DRIVER,
  RACING_DRIVER,
  SINK_DRIVER,
} from './contenders.ts';

const DELTAS = 50_000;

export const streaming: Benchmark = async (effort) => {
  const drivers = [
    LIMIT_DRIVER,
    SINK_DRIVER,
    QUEUE_DRIVER,
    PULL_DRIVER,
    RACING_DRIVER,
    ...PEERS,
  ];
  const deltas = DELTAS * effort.scale;
  const measured = await compare(
    contenders(drivers, 'turns', { steps: 0, deltas, turns: 1 }),
    effort,
  );
  const limit = figure(measured, LIMIT);
  const rows = [...measured.keys()].map((label) => {
    const ms = figure(measured, label);
    return [label, amount((ms * 1_000) / deltas), times(ms, limit)];
  });
  const text =
    `Microseconds a delta in a reply of ${amount(deltas)} text deltas, with a signal that never ` +
    'fires. The limit is a `for await` that calls back and joins the text, and cannot be ' +
    'cancelled.';
  return [{ title: 'Streaming', text, columns: ['', 'µs a delta', 'limit'], rows }];
};
