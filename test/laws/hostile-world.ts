import {
  createAgentLoop,
  fitContext,
  RETENTION_SERVICE,
  type AgentLoopBindings,
  type ContextPolicyInput,
  type DiagnosticKind,
  type UsageTracker,
} from '@celestea/agent-loop';
import { done, FakeSessionLog, FakeToolRegistry, say, think } from '@celestea/agent-loop/testing';
import {
  defaultAgentConfig,
  LLM_SERVICE,
  SESSION_LOG_SERVICE,
  TOOL_REGISTRY_SERVICE,
  zeroUsage,
  type Context,
  type InjectionSource,
  type LoopEvent,
  type SessionEvent,
  type StreamEvent,
  type ToolInput,
  type TurnOutcome,
} from '@celestea/core';

import { call, Mailbox, quiet } from '../support/turn.ts';

/** Every function of the caller's that a turn calls; rows are named by their type. */
export type HookName =
  | 'Context.get'
  | 'Llm.generate'
  | `stream.${'asyncIterator' | 'next' | 'return'}`
  | `append.${SessionEvent['type']}`
  | `SessionLog.${'deriveMessages' | 'nextTurnId' | 'flush'}`
  | `ToolRegistry.${'schemas' | 'dispatch'}`
  | 'usage.record'
  | `injections.${'drain' | 'pending'}`
  | 'retention.spill'
  | 'sink'
  | 'contextPolicy'
  | 'prepareStep'
  | 'onDiagnostic';

/** What a hook does instead; `good` is what it would have done. */
export type Act = (good: () => unknown) => unknown;

/** A turn with everything in it: reasoning, words, usage, two calls, a message that came in. */
const SCRIPTS: readonly (readonly StreamEvent[])[] = [
  [
    think('hm'),
    { kind: 'text', text: 'Let me look.' },
    { kind: 'usage', usage: { ...zeroUsage(), prompt_tokens: 3 } },
    done('Let me look.', call('a'), call('b')),
  ],
  say('It is noon.'),
  say('And it is Monday.'),
];
const FAILED: readonly (readonly StreamEvent[])[] = [
  [think('hm'), { kind: 'failed', kindOf: 'stream', message: 'overloaded' }],
];

const contextOf = (get: (token: unknown) => unknown): Context => ({ get }) as unknown as Context;

/** Turns on one log that use every hook there is, one of which does something else. */
export class World {
  readonly log: FakeSessionLog = new FakeSessionLog();
  readonly events: LoopEvent[] = [];
  readonly told = new Set<DiagnosticKind>();
  readonly #hook: HookName;
  readonly #act: Act;
  readonly #acted = new Set<HookName>();
  readonly #mail = new Mailbox();
  readonly #tools = new FakeToolRegistry({ echo: () => quiet(1).then(() => 'noon '.repeat(100)) });
  readonly #controller = new AbortController();
  #isGood = false;
  /** By token. The log is the same object for every turn: the loop knows it by its identity. */
  readonly #services: Map<unknown, unknown>;

  constructor(hook: HookName, act: Act) {
    this.#hook = hook;
    this.#act = act;
    this.#services = this.#makeServices();
  }

  /** Whether the hook was called. */
  get acted(): boolean {
    return this.#acted.has(this.#hook);
  }

  cancel(): void {
    this.#controller.abort('cancelled by the test');
  }

  run(): Promise<TurnOutcome> {
    const ctx = contextOf((token) => this.#call('Context.get', () => this.#services.get(token)));
    const loop = createAgentLoop(defaultAgentConfig());
    const options = { ...this.#options(), signal: this.#controller.signal };
    return loop.runTurnOutcome(ctx, 'go', options);
  }

  /** Another turn on the log, in which every hook does its work. */
  runNext(): Promise<TurnOutcome> {
    this.#isGood = true;
    const loop = createAgentLoop(defaultAgentConfig());
    this.#services.set(LLM_SERVICE, this.#model(SCRIPTS));
    const ctx = contextOf((token) => this.#services.get(token));
    return loop.runTurnOutcome(ctx, 'and now?', this.#options());
  }

  #call(name: HookName, good: () => unknown): unknown {
    this.#acted.add(name);
    return name === this.#hook && !this.#isGood ? this.#act(good) : good();
  }

  #options(): AgentLoopBindings {
    const record = (): void => {
      if (this.#hook === 'onDiagnostic' && !this.#isGood) throw new Error('something to tell of');
    };
    const usage = { record: () => this.#call('usage.record', record) };
    const injections = {
      drain: () => this.#call('injections.drain', () => this.#mail.drain()),
      pending: () => this.#call('injections.pending', () => this.#mail.pending()),
    };
    const policy = ({ messages, systemTokens, config }: ContextPolicyInput): unknown =>
      fitContext(messages, systemTokens, config.context_window_tokens, 0.8, 4);
    return {
      usage: { ...usage, latest: zeroUsage, total: zeroUsage } as unknown as UsageTracker,
      injections: injections as InjectionSource,
      sink: (event) => this.#call('sink', () => void this.events.push(event)),
      contextPolicy: (input) => this.#call('contextPolicy', () => policy(input)) as never,
      prepareStep: () => this.#call('prepareStep', () => undefined) as undefined,
      timeouts: { streamIdleMs: 60_000, toolMs: 60_000 },
      onDiagnostic: ({ kind }) => this.#call('onDiagnostic', () => void this.told.add(kind)),
    };
  }

  #makeServices(): Map<unknown, unknown> {
    const sizes = { singleResultBytes: 100, stepResultBytes: 1000 };
    const previews = { previewHeadBytes: 8, previewTailBytes: 8 };
    const ref = { locator: '/tmp/x', bytes: 500, retrievalHint: 'read it' };
    const spill = (): unknown => this.#call('retention.spill', () => Promise.resolve(ref));
    const scripts = this.#hook === 'stream.return' ? FAILED : SCRIPTS;
    return new Map<unknown, unknown>([
      [LLM_SERVICE, this.#model(scripts)],
      [SESSION_LOG_SERVICE, this.#sessionLog()],
      [TOOL_REGISTRY_SERVICE, this.#registry()],
      [RETENTION_SERVICE, { ...sizes, ...previews, spill }],
    ]);
  }

  #sessionLog(): object {
    const { log } = this;
    return {
      append: (row: SessionEvent) =>
        this.#call(`append.${row.type}`, () => {
          log.append(row);
        }),
      events: () => log.events(),
      clear: () => undefined,
      deriveMessages: () => this.#call('SessionLog.deriveMessages', () => log.deriveMessages()),
      nextTurnId: () => this.#call('SessionLog.nextTurnId', () => log.nextTurnId()),
      flush: () => this.#call('SessionLog.flush', () => quiet(1)),
    };
  }

  #registry(): object {
    const tools = this.#tools;
    return {
      get: (name: string) => tools.get(name),
      schemas: () => this.#call('ToolRegistry.schemas', () => tools.schemas()),
      dispatch: (input: ToolInput) =>
        this.#call('ToolRegistry.dispatch', () => tools.dispatch(input)),
    };
  }

  #model(scripts: readonly (readonly StreamEvent[])[]): object {
    let asked = 0;
    const iterator = (events: Iterator<StreamEvent>): unknown => ({
      next: () => this.#call('stream.next', () => quiet(1).then(() => events.next())),
      return: () => this.#call('stream.return', () => Promise.resolve({ done: true })),
    });
    const generate = async (): Promise<unknown> => {
      const events = (scripts[asked] ?? []).values();
      asked += 1;
      if (asked === 2) this.#mail.post('which day?');
      await quiet(1);
      return {
        [Symbol.asyncIterator]: () => this.#call('stream.asyncIterator', () => iterator(events)),
      };
    };
    return { generate: () => this.#call('Llm.generate', generate) };
  }
}
