import { afterEach, describe, expect, test, vi } from 'vitest';

import { createAgentLoop, type DefaultAgentLoop } from '@celestea/agent-loop';
import { done, FakeSessionLog, testContext } from '@celestea/agent-loop/testing';
import { defaultAgentConfig, type Llm, type StreamEvent } from '@celestea/core';

import { Breather } from '../src/breather.ts';
import { call, rawRegistry } from './support/turn.ts';

/** Far more than a turn needs until its host is heard; a starved one ends here and fails. */
const MAX_EVENTS = 5_000_000;
const MAX_STEPS = 200_000;

/** What a host does beside the turn, each setting off `heard`. */
const hosts: [name: string, wait: (heard: () => void) => void][] = [
  ['setTimeout', (heard) => void setTimeout(heard, 0)],
  ['setTimeout of 5 ms', (heard) => void setTimeout(heard, 5)],
  ['setImmediate', (heard) => void setImmediate(heard)],
  [
    'AbortSignal.timeout',
    (heard) => {
      AbortSignal.timeout(1).addEventListener('abort', heard, { once: true });
    },
  ],
];

/** Replies that never wait: each takes its events from a plain list. */
function atOnce(replies: Iterable<Iterable<StreamEvent>>): Llm {
  const scripts = replies[Symbol.iterator]();
  return {
    generate: () => {
      const script: IteratorResult<Iterable<StreamEvent>, undefined> = scripts.next();
      const events = (script.value ?? [])[Symbol.iterator]();
      const next = (): Promise<IteratorResult<StreamEvent>> => Promise.resolve(events.next());
      return Promise.resolve({ [Symbol.asyncIterator]: () => ({ next }) });
    },
  };
}

/** Text without end, until `over`. */
function* endlessText(over: () => boolean): Generator<StreamEvent> {
  for (let left = MAX_EVENTS; left > 0 && !over(); left -= 1) yield { kind: 'text', text: '.' };
  yield done(over() ? 'heard' : 'starved');
}

/** Steps without end, each calling tools, until `over`. */
function* endlessSteps(over: () => boolean, calls = 1): Generator<StreamEvent[]> {
  for (let step = 0; step < MAX_STEPS && !over(); step += 1) {
    const ids = Array.from({ length: calls }, (_, at) => `c${String(step)}-${String(at)}`);
    yield [done('', ...ids.map((id) => call(id)))];
  }
  yield [done(over() ? 'heard' : 'starved')];
}

/** A log that keeps nothing, so that many steps cost no more than they cost themselves. */
class ForgetfulLog extends FakeSessionLog {
  override append(): void {
    // forgotten
  }
}

/** How a turn of a model and tools that never wait ends: `heard` or `starved`. */
async function ending(loop: Pick<DefaultAgentLoop, 'runTurn'>, llm: Llm): Promise<string> {
  let text = 'no reply';
  const log = new ForgetfulLog();
  const tools = rawRegistry(({ call_id }) =>
    Promise.resolve({ call_id, value: 1, render: null, error: null, decision: null }),
  );
  await loop.runTurn(testContext({ llm, log, tools }), 'go', {
    sink: (event) => {
      if (event.kind === 'done') text = event.text;
    },
  });
  return text;
}

/** Waits as a host does, beside turns of each kind, and says how each turn ended. */
async function beside(
  loop: Pick<DefaultAgentLoop, 'runTurn'>,
  wait: (heard: () => void) => void,
): Promise<string[]> {
  const endings: string[] = [];
  for (const model of [
    (over: () => boolean) => atOnce([endlessText(over)]),
    (over: () => boolean) => atOnce(endlessSteps(over)),
    (over: () => boolean) => atOnce(endlessSteps(over, 5)),
  ]) {
    let heard = false;
    wait(() => {
      heard = true;
    });
    endings.push(await ending(loop, model(() => heard)));
  }
  return endings;
}

const config = defaultAgentConfig({ max_steps: 0, max_parallel_tool_calls: 1 });

describe('X18 a model and tools that never wait do not starve the process', () => {
  test.each(hosts)('X18 %s fires while a turn of deltas, or of steps, runs', async (_, wait) => {
    const endings = await beside(createAgentLoop(config), wait);
    expect(endings).toEqual(['heard', 'heard', 'heard']);
  });

  test('X18 the caller’s AbortSignal.timeout cancels such a turn', async () => {
    for (const model of [atOnce([endlessText(() => false)]), atOnce(endlessSteps(() => false))]) {
      const loop = createAgentLoop(config, { signal: AbortSignal.timeout(5) });
      const ctx = testContext({ llm: model, log: new ForgetfulLog() });
      expect(await loop.runTurnOutcome(ctx, 'go')).toBe('cancelled');
    }
  });

  test('X18 timers go on firing, not only once', async () => {
    let fired = 0;
    const count = (): void => {
      fired += 1;
      if (fired < 5) setTimeout(count, 0);
    };
    setTimeout(count, 0);
    expect(await ending(createAgentLoop(config), atOnce([endlessText(() => fired >= 5)]))).toBe(
      'heard',
    );
  });

  test('X18 between the many calls of one step as well', async () => {
    let now = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 1));
    let ran = 0;
    let ranWhenHeard = NaN;
    const tools = rawRegistry(({ call_id }) => {
      if (ran === 0) {
        setImmediate(() => {
          ranWhenHeard = ran;
        });
      }
      ran += 1;
      return Promise.resolve({ call_id, value: 1, render: null, error: null, decision: null });
    });
    const calls = Array.from({ length: 2_000 }, (_, at) => call(`c${String(at)}`));
    const llm = atOnce([[done('', ...calls)], [done('Hi.')]]);
    const ctx = testContext({ llm, log: new ForgetfulLog(), tools });
    expect(await createAgentLoop(config).runTurnOutcome(ctx, 'go')).toBe('completed');
    clock.mockRestore();
    expect(ran).toBe(2_000);
    expect(ranWhenHeard).toBeLessThan(500);
  });

  test('X18 two turns that never wait let each other go on', async () => {
    let first = false;
    const loop = createAgentLoop(config);
    const one = ending(loop, atOnce([[done('short')]])).finally(() => {
      first = true;
    });
    expect(await ending(loop, atOnce([endlessText(() => first)]))).toBe('heard');
    expect(await one).toBe('short');
  });
});

describe('X18 without setImmediate', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.resetModules();
  });

  test.each(['setTimeout', 'AbortSignal.timeout'])(
    'X18 it goes by a MessageChannel, closed each time: %s',
    async (name) => {
      const ports = { opened: 0, closed: 0 };
      const RealChannel = MessageChannel;
      vi.stubGlobal(
        'MessageChannel',
        class {
          readonly #channel = new RealChannel();
          readonly port1 = this.#channel.port1;
          readonly port2 = this.#channel.port2;
          constructor() {
            ports.opened += 1;
            const close = this.port1.close.bind(this.port1);
            this.port1.close = () => {
              ports.closed += 1;
              close();
            };
          }
        },
      );
      vi.stubGlobal('setImmediate', undefined);
      vi.resetModules();
      const fresh = await import('../src/loop.ts');
      const wait = hosts.find(([host]) => host === name)?.[1];
      if (wait === undefined) throw new Error(`no host ${name}`);
      const endings = await beside(new fresh.DefaultAgentLoop(config), wait);
      expect(endings).toEqual(['heard', 'heard', 'heard']);
      expect(ports.opened).toBeGreaterThan(0);
      expect(ports.closed).toBe(ports.opened);
    },
  );
});

/** Runs a breather on a clock of the test's own: its longest run without a rest, and its rests. */
async function runs(costs: Iterable<number>): Promise<{ longest: number; rests: number }> {
  let now = 1_000;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  try {
    const breather = new Breather();
    let since = now;
    let longest = 0;
    let rests = 0;
    for (const cost of costs) {
      if (breather.isDue()) {
        await breather.rest();
        rests += 1;
        since = now;
      }
      now += cost;
      longest = Math.max(longest, now - since);
    }
    return { longest, rests };
  } finally {
    clock.mockRestore();
  }
}

describe('X18 how long a turn runs without a rest', () => {
  test.each([0.01, 0.05, 0.1, 0.3, 0.5, 0.9, 1, 1.1, 2, 5, 9])(
    'X18 about 10 ms at most, with work of %d ms between two looks',
    async (cost) => {
      const ticks = Math.ceil(300 / cost);
      const { longest, rests } = await runs(Array.from({ length: ticks }, () => cost));
      expect(longest).toBeGreaterThanOrEqual(10);
      expect(longest).toBeLessThanOrEqual(10 + 2 + 2 * cost);
      expect(rests, 'no more rests than it needs').toBeLessThanOrEqual(30);
    },
  );

  test.each([
    [9.9, false],
    [10, true],
  ])('X18 after %d ms a rest is due: %s', (ran, due) => {
    const clock = vi.spyOn(performance, 'now').mockReturnValue(1_000);
    const breather = new Breather();
    clock.mockReturnValue(1_000 + ran);
    expect(breather.isDue()).toBe(due);
    clock.mockRestore();
  });

  test('X18 longer work rests after each piece, the first look apart', async () => {
    const pieces = Array.from({ length: 20 }, () => 50);
    const { longest, rests } = await runs(pieces);
    expect(longest).toBeLessThanOrEqual(100);
    expect(rests).toBeGreaterThanOrEqual(18);
  });

  test.each([0, 5_000])('X18 it looks at a clock of %d less often than it is asked', (now) => {
    const clock = vi.spyOn(performance, 'now').mockReturnValue(now);
    const breather = new Breather();
    for (let tick = 0; tick < 1_600; tick += 1) expect(breather.isDue()).toBe(false);
    expect(clock.mock.calls.length).toBeLessThan(120);
    clock.mockRestore();
  });

  test('X18 where there is setImmediate, a rest opens no MessageChannel', async () => {
    let opened = 0;
    const RealChannel = MessageChannel;
    vi.stubGlobal(
      'MessageChannel',
      class extends RealChannel {
        constructor() {
          super();
          opened += 1;
        }
      },
    );
    await new Breather().rest().finally(() => vi.unstubAllGlobals());
    expect(opened).toBe(0);
  });
});
