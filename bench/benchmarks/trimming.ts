import { compare, figure, type Contender } from '../compare.ts';
import { growthExponent } from '../statistics.ts';
import { amount, times } from '../table.ts';
import type { Benchmark } from './benchmark.ts';

const SIZES = [10_000, 100_000] as const;
const PLAIN = 'two plain passes (the limit)';

const LANES: readonly Omit<Contender, 'parameters'>[] = [
  { label: PLAIN, worker: 'trim-limit', case: 'trim' },
  { label: '**this library**, `trimContext`', worker: 'trim-ours', case: 'trim' },
  { label: '**this library**, a request of the loop', worker: 'trim-ours', case: 'snapshot' },
  { label: '`langchain`, `trimMessages`', worker: 'trim-langchain', case: 'trim', peer: true },
  { label: '`ai`, `pruneMessages`', worker: 'trim-ai-sdk', case: 'trim', peer: true },
];

export const trimming: Benchmark = async (effort) => {
  const small = await compare(lanes(SIZES[0]), effort);
  const large = await compare(lanes(SIZES[1]), { ...effort, rounds: Math.min(7, effort.rounds) });
  const limit = figure(small, PLAIN);
  const secondOf = (label: string): string => {
    const one = large.get(label);
    return one?.ok === false ? one.message : amount(figure(large, label));
  };
  const rows = [...small.keys()].map((label) => {
    const first = figure(small, label);
    const next = figure(small, label, 'nextMs');
    const second = figure(large, label);
    const exponent = growthExponent([
      [SIZES[0], first],
      [SIZES[1], second],
    ]);
    return [
      label,
      amount(first),
      times(first, limit),
      amount(next),
      Number.isFinite(next) ? `${amount((next / first) * 100)} %` : '–',
      secondOf(label),
      amount(exponent),
    ];
  });
  const text =
    'Milliseconds to cut a conversation of 10,000 messages to about half, the first time; the ' +
    'next request after ten more messages, and its share of the first; and 100,000 messages, ' +
    'with the exponent of the growth. `pruneMessages` counts no tokens.';
  const columns = ['', 'first, ms', 'limit', 'next, ms', 'share', '100,000, ms', 'k'];
  return [{ title: 'Trimming', text, columns, rows }];
};

const lanes = (messages: number): Contender[] =>
  LANES.map((lane) => ({ ...lane, parameters: { messages } }));
