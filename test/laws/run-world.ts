import { getEventListeners } from 'node:events';

import {
  DefaultAgentLoop,
  RETENTION_SERVICE,
  UsageTracker,
  type TurnOptions,
  type TurnStream,
} from '@celestea/agent-loop';
import { FakeSessionLog, testContext } from '@celestea/agent-loop/testing';
import type {
  Context,
  LoopEvent,
  ModelRequest,
  SessionEvent,
  TurnOutcome,
  Usage,
} from '@celestea/core';
import { vi } from 'vitest';

import { WorldClock } from './run-world-clock.ts';
import { hooksOf, spillOf, steeringOf } from './run-world-hosts.ts';
import { modelOf, registryOf } from './run-world-seams.ts';
import { raise, rejection, THROWN } from './worlds-values.ts';
import { numberOf, type Moment, type Reason, type StreamItem, type World } from './worlds.ts';

/** How far a turn was when something happened. */
export interface Progress {
  readonly rows: number;
  readonly events: number;
  readonly requests: number;
  readonly started: number;
  readonly delivered: number;
  /** The row that was being appended. */
  readonly appending: SessionEvent['type'] | null;
}

/** What the seams of one turn saw. */
export interface Ran {
  readonly world: World;
  readonly settled: { readonly outcome: TurnOutcome } | { readonly error: unknown };
  readonly log: FakeSessionLog;
  /** The rows of this turn alone. */
  readonly rows: readonly SessionEvent[];
  readonly events: readonly LoopEvent[];
  /** Rows in the log when each event was told. */
  readonly rowsAt: readonly number[];
  readonly requests: readonly ModelRequest[];
  readonly signals: readonly (AbortSignal | undefined)[];
  readonly started: readonly string[];
  /** The names of tools in the order they started and settled, `+` and `-` in front. */
  readonly work: readonly string[];
  /** What the model gave until the turn had settled. */
  readonly delivered: readonly (StreamItem | 'end')[];
  /** What acted before the rows it stands on were durable. */
  readonly early: readonly string[];
  /** What became of each reply's stream, in order. */
  readonly fates: readonly (readonly string[])[];
  readonly aborts: readonly (Progress & { readonly reason: unknown })[];
  /** The fault of a seam that was met, with how far the turn was. */
  readonly fault: (Progress & { readonly error: unknown }) | null;
  readonly posted: readonly string[];
  readonly waiting: readonly string[];
  readonly total: Usage;
  /** What was left behind when the turn had settled. */
  readonly left: { readonly listeners: number; readonly timers: number };
  readonly late: { readonly rows: number; readonly events: number; readonly work: number };
  readonly unhandled: readonly unknown[];
}

/** How a world's turn is started and its events are had. */
export type Face = 'sink' | 'stream';

const REASONS: Record<Reason, () => unknown> = {
  none: () => undefined,
  text: () => 'enough',
  error: () => new Error('enough'),
  null: () => null,
  number: () => 0,
  object: () => ({ why: 'enough' }),
  symbol: () => Symbol('enough'),
};

const LIMIT_REASON = 'nothing else could end it';

class Run {
  readonly clock = new WorldClock();
  readonly controllers = { loop: new AbortController(), turn: new AbortController() };
  readonly events: LoopEvent[] = [];
  readonly rowsAt: number[] = [];
  readonly requests: ModelRequest[] = [];
  readonly signals: (AbortSignal | undefined)[] = [];
  readonly started: string[] = [];
  readonly work: string[] = [];
  readonly delivered: (StreamItem | 'end')[] = [];
  readonly fates: string[][] = [];
  readonly aborts: (Progress & { reason: unknown })[] = [];
  readonly posted: string[] = [];
  readonly waiting: string[] = [];
  readonly tracker: UsageTracker = new UsageTracker();
  readonly log: FakeSessionLog;
  readonly world: World;
  fault: (Progress & { error: unknown }) | null = null;
  /** Rows that a flush has made durable. */
  durable = 0;
  readonly early: string[] = [];
  healed = false;
  appending: SessionEvent['type'] | null = null;
  readonly #passed: Record<string, number> = {};
  readonly #met: Record<string, number> = {};

  constructor(world: World) {
    this.world = world;
    this.log = new FakeSessionLog({
      rows: world.history,
      onAppend: ({ type }) => {
        this.appending = type;
        this.pass('row');
        try {
          this.#break('append');
        } finally {
          this.appending = null;
        }
      },
      onDerive: () => {
        this.#break('derive');
      },
      ...(world.log.flush === 'absent' ? {} : { onFlush: () => this.#flush() }),
    });
    const nextTurnId = this.log.nextTurnId.bind(this.log);
    this.log.nextTurnId = () => {
      this.#break('nextTurnId');
      return nextTurnId();
    };
  }

  readonly schemas = (): void => {
    this.#break('schemas');
  };

  progress(): Progress {
    return {
      rows: this.log.rows.length - this.world.history.length,
      events: this.events.length,
      requests: this.requests.length,
      started: this.started.length,
      delivered: this.delivered.length,
      appending: this.appending,
    };
  }

  abort(of: 'loop' | 'turn', reason: unknown): void {
    if (this.controllers[of].signal.aborted) return;
    this.aborts.push({ ...this.progress(), reason });
    this.controllers[of].abort(reason);
  }

  post(text: string): void {
    if (this.world.steering === null) return;
    this.posted.push(text);
    this.waiting.push(text);
  }

  /** A moment of this kind is there: what is due at it happens. */
  pass(kind: Exclude<Moment['kind'], 'time'>): void {
    const index = this.#passed[kind] ?? 0;
    this.#passed[kind] = index + 1;
    if (this.healed) return;
    const due = (at: Moment): number | null => {
      if (at.kind !== kind) return null;
      if (at.kind === 'before') return 0;
      return at.index === index ? at.ticks : null;
    };
    this.#each(due, (ticks, act) => {
      if (ticks === 0) act();
      else void this.clock.ticks(ticks).then(act);
    });
  }

  startClock(): void {
    this.#each(
      (at) => (at.kind === 'time' ? at.ms : null),
      (ms, act) => {
        this.clock.after(ms, act);
      },
    );
  }

  #each(due: (at: Moment) => number | null, then: (when: number, act: () => void) => void): void {
    for (const { at, text } of this.world.steering?.posts ?? []) {
      const when = due(at);
      if (when !== null) then(when, () => { this.post(text); });
    }
    for (const { at, of, reason } of this.world.aborts) {
      const when = due(at);
      if (when !== null) then(when, () => { this.abort(of, REASONS[reason]()); });
    }
  }

  #break(what: string): void {
    const plan = this.world.log.fault;
    if (this.healed || plan?.what !== what) return;
    const index = this.#met[what] ?? 0;
    this.#met[what] = index + 1;
    if (index !== plan.index && !(plan.forever && index > plan.index)) return;
    const error = this.fault?.error ?? THROWN[plan.error]();
    this.fault ??= { ...this.progress(), error };
    throw error as Error; // hosts throw anything
  }

  async #flush(): Promise<void> {
    const { flush } = this.world.log;
    if (this.healed) return;
    const { length } = this.log.rows;
    this.pass('await');
    if (flush !== 'absent') await this.clock.pass(flush);
    this.#break('flush');
    this.durable = length;
  }

  /** Something acts that wants these rows to be durable (X4). */
  needDurable(rows: number, what: string): void {
    const { flush } = this.world.log;
    if (flush !== 'absent' && this.fault === null && rows > this.durable) this.early.push(what);
  }

  readonly sink = (event: LoopEvent): void => {
    this.events.push(event);
    this.rowsAt.push(this.log.rows.length - this.world.history.length);
    this.pass('event');
    if (this.world.sink === 'throws') raise('hostile');
    // A sink may be an async function by mistake.
    if (this.world.sink === 'rejects') return rejection('error') as unknown as undefined;
  };
}

function contextOf(run: Run): Context {
  const { clock, world } = run;
  const hooks = {
    clock,
    waits: () => { run.pass('await'); },
    asked: (request: unknown, signal: AbortSignal | undefined) => {
      run.needDurable(run.log.rows.length, 'a request');
      run.requests.push(request as ModelRequest);
      run.signals.push(signal);
    },
    delivered: (item: StreamItem | 'end') => { run.delivered.push(item); },
    post: (text: string) => { run.post(text); },
    stream: (reply: number, fate: string) => { (run.fates[reply] ??= []).push(fate); },
    starts: ({ call_id, name }: { call_id: string; name: string }, signal?: AbortSignal) => {
      const { rows } = run.log;
      const row = rows.findLastIndex((of) => of.type === 'tool_call' && of.id === call_id);
      run.needDurable(row + 1, `the tool of ${call_id}`);
      run.started.push(call_id);
      run.work.push(`+${name}`);
      run.signals.push(signal);
      run.pass('dispatch');
    },
    settles: (name: string) => { run.work.push(`-${name}`); },
  };
  const tools = registryOf(world, hooks, run.schemas);
  const ctx = testContext({ llm: modelOf(world, hooks), log: run.log, tools });
  if (world.retention === 'absent') return ctx;
  const preview = { previewHeadBytes: 9, previewTailBytes: 5 };
  const sizes = { singleResultBytes: 64, stepResultBytes: 100, ...preview };
  // What it gives back breaks its contract on purpose.
  const spill = spillOf(world, clock) as () => Promise<null>;
  return ctx.provide(RETENTION_SERVICE, { ...sizes, spill });
}

function loopOf(run: Run): { loop: DefaultAgentLoop; options: TurnOptions } {
  const { config: c, timeouts, diagnostics, usage } = run.world;
  if (usage === 'throws') {
    const record = run.tracker.record.bind(run.tracker);
    run.tracker.record = (of) => {
      record(of);
      raise('hostile');
    };
  }
  const injections = steeringOf(run.world, run.waiting);
  const loop = new DefaultAgentLoop(
    {
      model: 'm',
      system_prompt: 'Be brief.',
      max_steps: numberOf(c.maxSteps),
      max_parallel_tool_calls: numberOf(c.parallel),
      context_window_tokens: c.window,
      context_trim_threshold: numberOf(c.threshold),
      context_keep_recent: c.keep,
    },
    {
      signal: run.controllers.loop.signal,
      timeouts: { streamIdleMs: timeouts.stream, toolMs: timeouts.tool },
      ...hooksOf(run.world, run.clock),
      ...(injections !== undefined && { injections }),
      ...(diagnostics !== 'absent' && {
        onDiagnostic: () => {
          if (diagnostics === 'throws') raise('hostile');
        },
      }),
    },
  );
  return { loop, options: { signal: run.controllers.turn.signal, usage: run.tracker } };
}

/** The turn of a world; needs fake timers. What nothing else ends, a last cancel has to end. */
export async function runWorld(world: World, face: Face = 'sink'): Promise<Ran> {
  const run = new Run(world);
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', note);
  try {
    const ctx = contextOf(run);
    const { loop, options } = loopOf(run);
    run.pass('before');
    run.startClock();
    const state: { settled: Ran['settled'] | null } = { settled: null };
    const turn =
      face === 'sink'
        ? loop.runTurnOutcome(ctx, world.input, { ...options, sink: run.sink })
        : pulled(run, loop.streamTurn(ctx, world.input, options));
    turn.then(
      (outcome) => { state.settled = { outcome }; },
      (error: unknown) => { state.settled = { error }; },
    );
    const isOver = (): boolean => state.settled !== null;
    await run.clock.run(isOver);
    if (!isOver()) run.abort('turn', LIMIT_REASON);
    if (!isOver()) await run.clock.run(isOver);
    if (state.settled === null) throw new Error('the turn never settles');
    return await restOf(run, state.settled, unhandled);
  } finally {
    process.off('unhandledRejection', note);
  }
}

/** The same events, had by pulling. */
async function pulled(run: Run, turn: TurnStream): Promise<TurnOutcome> {
  for await (const event of turn) run.events.push(event);
  return turn.outcome;
}

/** Lets everything end that the turn does not wait for, and says what came of it. */
async function restOf(
  run: Run,
  settled: Ran['settled'],
  unhandled: unknown[],
): Promise<Ran> {
  const listeners = [run.controllers.loop, run.controllers.turn].map(
    ({ signal }) => getEventListeners(signal, 'abort').length,
  );
  const timers = vi.getTimerCount() - run.clock.running;
  run.needDurable(run.log.rows.length, 'the end');
  const delivered = [...run.delivered];
  // a reply whose stream was never opened has no place of its own
  const fates = Object.values(run.fates).map((of) => [...of]);
  const [rows, events, work] = [run.log.rows.length, run.events.length, run.started.length];
  await run.clock.run(() => false);
  await run.clock.quiet();
  const handedOn = [...new Set(run.signals)].filter((signal) => signal !== undefined);
  listeners.push(...handedOn.map((signal) => getEventListeners(signal, 'abort').length));
  run.healed = true;
  const late = {
    rows: run.log.rows.length - rows,
    events: run.events.length - events,
    work: run.started.length - work,
  };
  const left = { listeners: listeners.reduce((all, one) => all + one, 0), timers };
  const { world, log, fault, rowsAt, requests, signals, started } = run;
  const total = run.tracker.total();
  return {
    ...{ world, settled, log, fault, rowsAt, requests, signals, started, total, left, late },
    ...{ events: run.events, work: run.work, delivered, fates },
    ...{ aborts: run.aborts, early: run.early, posted: run.posted, waiting: run.waiting },
    unhandled,
    rows: run.log.rows.slice(world.history.length),
  };
}
