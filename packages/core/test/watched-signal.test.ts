import { getEventListeners } from 'node:events';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { watchedSignal } from '../src/conformance/watched-signal.ts';

const LISTENERS = [0, 1].map((index) => () => index);
const bounded = (): string => 'bounded';

const ACTS = ['add', 'add within', 'remove', 'handle', 'hear another', 'end', 'abort'] as const;

const step = fc.record({
  act: fc.constantFrom(...ACTS),
  listener: fc.constantFrom(...LISTENERS),
  capture: fc.boolean(),
  once: fc.boolean(),
});

test('a watched signal counts who listens as the signal itself does', () => {
  const counts = new Set<number>();
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const { signal, abort, listeners } = watchedSignal();
      const within = new AbortController();
      const acts = ({ listener, capture, once }: (typeof steps)[number]) => ({
        add: () => {
          signal.addEventListener('abort', listener, once ? { capture, once } : capture);
        },
        'add within': () => {
          signal.addEventListener('abort', bounded, { capture, once, signal: within.signal });
        },
        remove: () => {
          signal.removeEventListener('abort', listener, { capture });
        },
        handle: () => (signal.onabort = once ? listener : null),
        'hear another': () => {
          signal.addEventListener('other', listener);
        },
        end: () => {
          within.abort();
        },
        abort,
      });
      try {
        for (const one of steps) {
          acts(one)[one.act]();
          expect(listeners()).toBe(getEventListeners(signal, 'abort').length);
          counts.add(listeners());
        }
      } finally {
        within.abort();
        signal.onabort = null;
        for (const listener of [...LISTENERS, bounded]) {
          signal.removeEventListener('abort', listener, { capture: true });
          signal.removeEventListener('abort', listener);
        }
      }
      expect(listeners()).toBe(0);
    }),
    { numRuns: 1000 },
  );
  expect(Math.max(...counts)).toBeGreaterThan(2);
});
