import { compare, figure, type Contender, type Effort } from '../compare.ts';
import { growthExponent } from '../statistics.ts';
import { amount, times, type Table } from '../table.ts';
import type { Benchmark } from './benchmark.ts';
import { contenders, LIMIT, LIMIT_DRIVER, PEERS, SINK_DRIVER } from './contenders.ts';

const STEPS = 200;
const BARE_TOOLS = '**this library**, tools without checks';
const OURS = '**this library**, tools of `@celestea/tools`';
const NARROW = '**this library**, a window that cuts at each step';

const LIMIT_LANE = { ...LIMIT_DRIVER };
const OURS_LANE = { ...SINK_DRIVER, label: OURS };
const BARE_LANE = { label: BARE_TOOLS, worker: 'ours', way: 'bare-tools' };
const NARROW_LANE = { label: NARROW, worker: 'ours', way: 'narrow' };

const turnOf = (steps: number): Contender['parameters'] => ({ steps, deltas: 1, turns: 1 });

export const steps: Benchmark = async (effort) => [await stepTimes(effort), await growth(effort)];

async function stepTimes(effort: Effort): Promise<Table> {
  const drivers = [LIMIT_LANE, BARE_LANE, OURS_LANE, NARROW_LANE, ...PEERS];
  const measured = await compare(contenders(drivers, 'turns', turnOf(STEPS)), effort);
  const limit = figure(measured, LIMIT);
  const rows = [...measured.keys()].map((label) => {
    const ms = figure(measured, label);
    return [label, amount((ms * 1_000) / STEPS), times(ms, limit)];
  });
  const text =
    `Microseconds a step in a turn of ${String(STEPS)} steps with four trivial tool calls each. ` +
    'The limit streams the calls, awaits four functions together, keeps rows and copies the ' +
    'messages for each request. The other libraries check arguments against a schema, as ' +
    '`@celestea/tools` does.';
  return { title: 'Tool steps', text, columns: ['', 'µs a step', 'limit'], rows };
}

async function growth(effort: Effort): Promise<Table> {
  const drivers = [LIMIT_LANE, OURS_LANE, NARROW_LANE];
  const own = await sizes(drivers, [100, 200, 400, 800, 1_600], effort);
  const peers = effort.peers ? await sizes(PEERS, [50, 100, 200], effort) : [];
  const text =
    'How the time of one turn grows with its steps: the exponent k of time ~ steps^k, 1 when a ' +
    'step costs the same however long the turn is.';
  const columns = ['', 'steps', 'ms', 'k'];
  return { title: 'Growth with the length of a turn', text, columns, rows: [...own, ...peers] };
}

async function sizes(
  drivers: Parameters<typeof contenders>[0],
  counts: readonly number[],
  effort: Effort,
): Promise<string[][]> {
  const rows: string[][] = [];
  for (const driver of drivers) {
    const lanes = counts.flatMap((count) =>
      contenders([driver], 'turns', turnOf(count)).map((lane) => {
        return { ...lane, label: `${driver.label} ${String(count)}` };
      }),
    );
    const measured = await compare(lanes, effort);
    const points = counts.map(
      (count) => [count, figure(measured, `${driver.label} ${String(count)}`)] as const,
    );
    const range = `${String(counts[0])} to ${String(counts.at(-1))}`;
    const ms = points.map(([, time]) => amount(time)).join(', ');
    rows.push([driver.label, range, ms, amount(growthExponent(points))]);
  }
  return rows;
}
