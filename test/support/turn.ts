import { setImmediate } from 'node:timers/promises';

import { FakeToolRegistry } from '@celestea/agent-loop/testing';
import type { InjectionSource, PendingInjection, ToolCall, ToolRegistry } from '@celestea/core';

/** A call of the tool `echo`, or of another. */
export const call = (id: string, name = 'echo'): ToolCall => ({ id, name, args: { of: id } });

/** What a promise rejected with, or what it resolved to. */
export type Settled = { error: unknown } | { resolved: unknown };

export const settled = (promise: Promise<unknown>): Promise<Settled> =>
  promise.then(
    (resolved) => ({ resolved }),
    (error: unknown) => ({ error }),
  );

/**
 * Lets everything run that does not wait for a clock. On a slow machine a turn rests for a round
 * now and then (X18), so there are more rounds than steps.
 */
export async function quiet(rounds = 20): Promise<void> {
  for (let round = 0; round < rounds; round += 1) await setImmediate();
}

/** A registry with one tool, `echo`, and a `dispatch` of the test's own. */
export function rawRegistry(dispatch: ToolRegistry['dispatch']): ToolRegistry {
  const registry: ToolRegistry = new FakeToolRegistry({ echo: (args) => args });
  registry.dispatch = dispatch;
  return registry;
}

/** Messages for a running turn, with what was handed over. */
export class Mailbox implements InjectionSource {
  readonly waiting: PendingInjection[] = [];
  readonly drained: PendingInjection[] = [];
  /** How often each was called. */
  readonly asked = { drain: 0, pending: 0 };

  post(text: string, from = ''): void {
    this.waiting.push({ text, from });
  }

  drain(): PendingInjection[] {
    this.asked.drain += 1;
    const items = this.waiting.splice(0);
    this.drained.push(...items);
    return items;
  }

  pending(): number {
    this.asked.pending += 1;
    return this.waiting.length;
  }
}
