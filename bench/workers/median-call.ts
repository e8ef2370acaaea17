import { median } from '../statistics.ts';

/** The median of one call, in microseconds. */
export function medianCall(calls: number, call: () => unknown): number {
  const samples: number[] = [];
  for (let index = 0; index < calls; index += 1) {
    const start = performance.now();
    call();
    samples.push((performance.now() - start) * 1_000);
  }
  return median(samples);
}
