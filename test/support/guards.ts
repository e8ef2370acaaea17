/**
 * What every test runs under: it prints nothing, leaves no listener on a signal it made and
 * no timer running. (That nothing goes unhandled is vitest's own guard.)
 */
import { getEventListeners } from 'node:events';

import { afterEach, beforeEach, expect, vi } from 'vitest';

const printed: string[] = [];
const signals = new Set<AbortSignal>();
const timers = new Map<unknown, string>();

for (const stream of [process.stdout, process.stderr] as const) {
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  stream.write = (...args: unknown[]): boolean => {
    printed.push(String(args[0]));
    return write(...args);
  };
}

for (const method of ['log', 'info', 'warn', 'error', 'debug', 'trace', 'dir'] as const) {
  const print = console[method].bind(console) as (...args: unknown[]) => void;
  console[method] = (...args: unknown[]): void => {
    printed.push(args.map(String).join(' '));
    print(...args);
  };
}

const RealAbortController = globalThis.AbortController;
globalThis.AbortController = class AbortController extends RealAbortController {
  constructor() {
    super();
    signals.add(this.signal);
  }
};

const caller = (): string => new Error('set here').stack?.split('\n').slice(3, 6).join('\n') ?? '';

const { setTimeout: startTimeout, setInterval: startInterval } = globalThis;
const { clearTimeout: stopTimeout, clearInterval: stopInterval } = globalThis;

globalThis.setTimeout = Object.assign<object, object>(
  (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]): NodeJS.Timeout => {
    const timer = startTimeout(() => {
      timers.delete(timer);
      run(...args);
    }, ms);
    timers.set(timer, caller());
    return timer;
  },
  startTimeout,
) as typeof globalThis.setTimeout;

globalThis.setInterval = ((run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
  const timer = startInterval(run, ms, ...args);
  timers.set(timer, caller());
  return timer;
}) as typeof globalThis.setInterval;

globalThis.clearTimeout = ((timer: NodeJS.Timeout | undefined) => {
  timers.delete(timer);
  stopTimeout(timer);
}) as typeof globalThis.clearTimeout;

globalThis.clearInterval = ((timer: NodeJS.Timeout | undefined) => {
  timers.delete(timer);
  stopInterval(timer);
}) as typeof globalThis.clearInterval;

beforeEach(() => {
  printed.length = 0;
  signals.clear();
  timers.clear();
});

afterEach(() => {
  if (vi.isFakeTimers()) {
    expect(vi.getTimerCount(), 'fake timers left running').toBe(0);
    vi.useRealTimers();
  }
  expect(printed, 'a test prints nothing').toEqual([]);
  const left = [...signals].filter((signal) => getEventListeners(signal, 'abort').length > 0);
  expect(left.length, 'signals with a listener left on them').toBe(0);
  const running = [...timers].filter(([timer]) => (timer as NodeJS.Timeout).hasRef());
  expect(
    running.map(([, where]) => where),
    'timers left running',
  ).toEqual([]);
});
