import { compare, figure, type Contender } from '../compare.ts';
import type { Figures } from '../protocol.ts';
import { amount, times } from '../table.ts';
import type { Benchmark } from './benchmark.ts';

const APPENDS = 20_000;
const ROWS = 100_000;
const BARE = 'bare calls (the limit)';
const OURS = '**this library**, `JsonlSessionLog`';

export const sessionLog: Benchmark = async (effort) => {
  const appends = await compare(lanes('append', { rows: APPENDS }), effort);
  const reopens = await compare(lanes('reopen', { rows: ROWS }), effort);
  const rows = [BARE, OURS].map((label) => {
    const us = figure(appends, label, 'us');
    const ms = figure(reopens, label);
    const limits = [figure(appends, BARE, 'us'), figure(reopens, BARE)] as const;
    return [label, amount(us), times(us, limits[0]), amount(ms), times(ms, limits[1])];
  });
  const text =
    'A log on disk: microseconds to append a line of 500 bytes against one `writeSync` of it ' +
    `(median of ${amount(APPENDS)}, without fsync), and milliseconds to open a log of ` +
    `${amount(ROWS)} rows against reading the file and a \`JSON.parse\` for each line.`;
  const columns = ['', 'append, µs', 'limit', 'open, ms', 'limit'];
  return [{ title: 'The log on disk', text, columns, rows }];
};

const lanes = (name: string, parameters: Figures): Contender[] => [
  { label: BARE, worker: 'log-limit', case: name, parameters },
  { label: OURS, worker: 'log-ours', case: name, parameters },
];
