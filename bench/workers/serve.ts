import { Socket } from 'node:net';
import process from 'node:process';

import type { Answer, Figures, Order } from '../protocol.ts';

/** One run of something, set up and measured by itself. */
export type Case = (parameters: Figures) => Promise<Figures>;

/** Answers the runner's orders, one run at a time, until it hangs up. */
export function serve(cases: Record<string, Case>): void {
  forbidNetwork();
  process.on('message', (order: Order) => {
    void answer(cases, order).then((reply) => process.send?.(reply));
  });
  process.on('disconnect', () => {
    process.exit(0);
  });
}

async function answer(cases: Record<string, Case>, order: Order): Promise<Answer> {
  try {
    const run = cases[order.case];
    if (run === undefined) throw new Error(`no case ${order.case}`);
    return { ok: true, figures: await run(order.parameters) };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

/** A model service or a tracer that is reached by mistake would be part of the measurement. */
function forbidNetwork(): void {
  Socket.prototype.connect = (): never => {
    throw new Error('no connections in a benchmark');
  };
}

/**
 * Milliseconds that `run` takes, after two minor collections so that nobody pays for another's
 * garbage: what lives through the first is moved by a second, whoever is running then. A full one would throw away optimized code with the objects that it was made for, and
 * what is measured would start cold each time.
 */
export async function timed<T>(run: () => T | Promise<T>): Promise<{ ms: number; value: T }> {
  globalThis.gc?.({ type: 'minor' });
  globalThis.gc?.({ type: 'minor' });
  const start = performance.now();
  const value = await run();
  return { ms: performance.now() - start, value };
}

export function collectGarbage(): void {
  if (globalThis.gc === undefined) throw new Error('start the worker with --expose-gc');
  globalThis.gc();
}

export function parameter(parameters: Figures, name: string): number {
  const value = parameters[name];
  if (value === undefined) throw new Error(`no parameter ${name}`);
  return value;
}
