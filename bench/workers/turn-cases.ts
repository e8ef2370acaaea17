import type { Figures } from '../protocol.ts';
import { median } from '../statistics.ts';
import { checkReceived, type Plan, type Subject, type Turn } from './script.ts';
import { collectGarbage, parameter, timed, type Case } from './serve.ts';

/** Runs shorter than this are repeated within their turn at the clock. */
const LEAST_MS = 60;
const MOST_REPEATS = 20;

/** The runs that every library is put through, for one way of driving it. */
export function turnCases(name: string, subject: Subject): Record<string, Case> {
  return {
    [`${name}:turns`]: (parameters) => runTurns(subject, parameters),
    [`${name}:heap`]: (parameters) => holdTurns(subject, parameters),
  };
}

function planOf(parameters: Figures): Plan {
  return { steps: parameter(parameters, 'steps'), deltas: parameter(parameters, 'deltas') };
}

/** `turns` turns side by side: the milliseconds they take together. */
async function runTurns(subject: Subject, parameters: Figures): Promise<Figures> {
  const plan = planOf(parameters);
  const open = subject(plan);
  const samples: number[] = [];
  for (let spent = 0; spent < LEAST_MS && samples.length < MOST_REPEATS; ) {
    const turns = prepared(open, parameter(parameters, 'turns'));
    const { ms, value } = await timed(() => Promise.all(turns.map((start) => start())));
    for (const received of value) checkReceived(plan, received);
    samples.push(ms);
    spent += ms;
  }
  return { ms: median(samples) };
}

function prepared(open: () => Turn, count: number): (() => ReturnType<Turn>)[] {
  return Array.from({ length: count }, () => {
    const turn = open();
    const { signal } = new AbortController();
    return () => turn(signal);
  });
}

/** Bytes of heap that a turn holds while it and all the others are halfway through their reply. */
async function holdTurns(subject: Subject, parameters: Figures): Promise<Figures> {
  const count = parameter(parameters, 'turns');
  let waiting = 0;
  let arrived = (): void => undefined;
  let goOn = (): void => undefined;
  const allThere = new Promise<void>((resolve) => (arrived = resolve));
  const released = new Promise<void>((resolve) => (goOn = resolve));
  const pause = (): Promise<void> => {
    waiting += 1;
    if (waiting === count) arrived();
    return released;
  };
  const open = subject({ ...planOf(parameters), pause });
  const turns = prepared(open, count);
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const running = Promise.all(turns.map((start) => start()));
  await Promise.race([allThere, running]);
  collectGarbage();
  const held = process.memoryUsage().heapUsed - before;
  goOn();
  await running;
  return { bytes: held / count };
}
