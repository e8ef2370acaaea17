import { createHook } from 'node:async_hooks';

import { createAgentLoop } from '@celestea/agent-loop';
import {
  callTools,
  FakeSessionLog,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
} from '@celestea/agent-loop/testing';
import {
  assistantText,
  defaultAgentConfig,
  type Llm,
  type Message,
  type SessionEvent,
  type StreamEvent,
} from '@celestea/core';
import { InMemorySessionLog } from '@celestea/session';
import { describe, expect, test, vi } from 'vitest';

/** Counts that do not depend on the machine: what a delta and a step cost. */
interface Cost {
  promises: number;
  listeners: number;
}

/** How many of these a run makes. */
async function counted(run: () => Promise<unknown>): Promise<Cost> {
  let promises = 0;
  const hook = createHook({
    init: (_, type) => {
      if (type === 'PROMISE') promises += 1;
    },
  });
  vi.spyOn(performance, 'now').mockReturnValue(0); // no turn is due to rest
  const added = vi.spyOn(EventTarget.prototype, 'addEventListener');
  hook.enable();
  try {
    await run();
    return { promises, listeners: added.mock.calls.length };
  } finally {
    hook.disable();
    vi.restoreAllMocks();
  }
}

/** A model whose stream makes no promise of its own: each delta is the same settled one. */
class DeltaLlm implements Llm {
  readonly #deltas: number;

  constructor(deltas: number) {
    this.#deltas = deltas;
  }

  generate(): Promise<AsyncIterable<StreamEvent>> {
    const delta = Promise.resolve({ done: false as const, value: { kind: 'text', text: 'a' } as const });
    const done = { kind: 'done', message: assistantText('a') } as const;
    const ends = [
      Promise.resolve({ done: false as const, value: done }),
      Promise.resolve({ done: true as const, value: undefined }),
    ];
    let left = this.#deltas;
    const next = (): Promise<IteratorResult<StreamEvent, undefined>> => {
      left -= 1;
      return left >= 0 ? delta : (ends.shift() ?? delta);
    };
    return Promise.resolve({ [Symbol.asyncIterator]: () => ({ next }) });
  }
}

const loop = createAgentLoop(defaultAgentConfig({ max_steps: 0 }));

/** The cost of one more of what a run has `n` of. */
async function perUnit(run: (n: number) => Promise<unknown>): Promise<Cost> {
  await run(1); // what is made once for the whole process
  const few = await counted(() => run(100));
  const many = await counted(() => run(300));
  return {
    promises: (many.promises - few.promises) / 200,
    listeners: (many.listeners - few.listeners) / 200,
  };
}

describe('what a delta costs', () => {
  const { signal } = new AbortController();

  test('L6.4 pushed to a sink it makes a promise at most, and no listener', async () => {
    const cost = await perUnit((deltas) =>
      loop.runTurnOutcome(testContext({ llm: new DeltaLlm(deltas) }), 'go', {
        signal,
        sink: () => undefined,
      }),
    );
    expect(cost).toEqual({ promises: 1, listeners: 0 });
  });

  test('X5 pulled it makes two promises more, of its reader and of the reading', async () => {
    const cost = await perUnit(async (deltas) => {
      for await (const event of loop.streamTurn(
        testContext({ llm: new DeltaLlm(deltas) }),
        'go',
        { signal },
      )) {
        if (event.kind === 'turn_end') break;
      }
    });
    expect(cost).toEqual({ promises: 3, listeners: 0 });
  });
});

describe('what a step costs', () => {
  const calls = (step: number): { id: string; name: string; args: unknown }[] =>
    Array.from({ length: 4 }, (_, index) => ({
      id: `c${String(step)}-${String(index)}`,
      name: 'echo',
      args: { step },
    }));
  const scripted = (steps: number): ScriptedLlm =>
    new ScriptedLlm([...Array.from({ length: steps }, (_, step) => callTools(...calls(step))), say('done')]);
  const tools = new FakeToolRegistry({ echo: (args) => args });

  test('L6.4 L4.4 a step of four calls adds no listener', async () => {
    const { signal } = new AbortController();
    const { listeners, promises } = await perUnit((steps) =>
      loop.runTurnOutcome(testContext({ llm: scripted(steps), tools }), 'go', { signal }),
    );
    expect(listeners).toBe(0);
    expect(promises).toBeLessThanOrEqual(60);
  });

  test('L5.1 a step reads the log and the registry once, and writes two rows a call', async () => {
    const reads = { messages: 0, schemas: 0, rows: 0 };
    class CountingLog extends FakeSessionLog {
      override deriveMessages(): Message[] {
        reads.messages += 1;
        return super.deriveMessages();
      }
      override append(row: SessionEvent): void {
        reads.rows += 1;
        super.append(row);
      }
    }
    const counting = new FakeToolRegistry({ echo: (args) => args });
    const schemas = counting.schemas.bind(counting);
    counting.schemas = () => {
      reads.schemas += 1;
      return schemas();
    };
    const steps = 20;
    const ctx = testContext({ llm: scripted(steps), tools: counting, log: new CountingLog() });
    await loop.runTurn(ctx, 'go');
    // the last step answers; beside the calls there are the start, the input, the reply, the end
    expect(reads).toEqual({ messages: steps + 1, schemas: steps + 1, rows: steps * 8 + 4 });
  });

  test('L5.3 C4.7 a request prices and derives what is new since the last one', async () => {
    const requests: Message[][] = [];
    const llm = scripted(30);
    const spy: Llm = {
      generate: (request, options) => {
        requests.push(request.messages);
        return llm.generate(request, options);
      },
    };
    await loop.runTurn(testContext({ llm: spy, tools, log: new InMemorySessionLog() }), 'go');
    requests.slice(1).forEach((messages, index) => {
      const former = requests[index] ?? [];
      expect(messages.slice(0, former.length)).toEqual(former);
      expect(former.every((message, at) => message === messages[at])).toBe(true);
      expect(messages.length - former.length).toBe(5);
    });
  });
});
