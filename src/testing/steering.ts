import type { InjectionSource, PendingInjection } from '@celestea/core';

import { requireThat } from './require.ts';

/** A source of messages for a running turn, with a way to put some in. */
export interface SteeringSource extends InjectionSource {
  /** Puts a message in; `from` is who it is from. */
  push(text: string, from?: string): void;
  pending(): number;
  /** How often it was drained, messages waiting or not. */
  readonly drains: number;
}

/**
 * An `InjectionSource` that a test pushes into, before the turn or from inside a tool.
 *
 * @example
 * const steering = steeringSource('and be brief');
 * await loop.runTurn(ctx, 'Go.', { injections: steering });
 */
export function steeringSource(...texts: string[]): SteeringSource {
  let waiting: PendingInjection[] = [];
  let drains = 0;
  const push = (text: string, from = ''): void => {
    requireThat(typeof text === 'string', 'text: expected a string', text);
    requireThat(typeof from === 'string', 'from: expected a string', from);
    waiting.push({ text, from });
  };
  for (const text of texts) push(text);
  return {
    push,
    pending: () => waiting.length,
    drain: () => {
      drains += 1;
      const drained = waiting;
      waiting = [];
      return drained;
    },
    get drains() {
      return drains;
    },
  };
}
