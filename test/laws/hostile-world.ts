import {
  createAgentLoop,
  fitContext,
  RETENTION_SERVICE,
  type UsageTracker,
  type AgentLoopBindings,
  type ContextPolicyInput,
  type Diagnostic,
  type DiagnosticKind,
  type TurnOptions,
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
  type ModelRequest,
  type SessionEvent,
  type SessionLog,
  type StreamEvent,
  type ToolInput,
  type ToolRegistry,
  type TurnOutcome,
} from '@celestea/core';

import { call, Mailbox, quiet, settled, type Settled } from '../support/turn.ts';
import { passedOffAs, type Behaviour, type Reach } from './hostile-behaviours.ts';

/** Every function of the caller's that a turn is handed. */
export type HookPlace =
  | 'Context.get'
  | 'Llm.generate'
  | `stream.${'asyncIterator' | 'next' | 'return' | 'throw'}`
  | `SessionLog.${keyof SessionLog}`
  | `ToolRegistry.${keyof ToolRegistry}`
  | `usage.${keyof UsageTracker}`
  | `injections.${keyof InjectionSource}`
  | 'retention.spill'
  | 'sink'
  | 'contextPolicy'
  | 'prepareStep'
  | 'onDiagnostic';

export type Hook = (...args: unknown[]) => unknown;

/** A script with everything in it: reasoning, words, usage, two calls, two more replies. */
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

const LONG_RESULT = 'noon '.repeat(100);

/** What a turn is started with. */
export type Argument = 'ctx' | 'userInput' | 'config' | 'bindings' | 'turn options';

export interface Corruption {
  readonly acts?: 'never' | 'always' | 'unless it throws';
  readonly when?: (args: unknown[]) => boolean;
}

/** A turn that uses every hook there is, each of which can be replaced. */
export class World implements Reach {
  readonly log: FakeSessionLog = new FakeSessionLog();
  readonly events: LoopEvent[] = [];
  /** How often each kind of diagnostic came. */
  readonly told = new Map<DiagnosticKind, number>();
  readonly requests: ModelRequest[] = [];
  /** Turns that hooks started meanwhile. */
  readonly inner: Promise<Settled>[] = [];
  readonly hooks: Record<HookPlace, Hook> = this.#goodHooks();
  /** By token. The same objects for every turn: the loop knows a log by its identity. */
  readonly services: Map<unknown, unknown> = this.#makeServices();
  scripts: readonly (readonly StreamEvent[])[] = SCRIPTS;
  /** Stand where the arguments of the turn would. */
  readonly given = new Map<Argument, unknown>();
  readonly #via: 'bindings' | 'options';
  readonly #mail = new Mailbox();
  readonly #releases: ((value: undefined) => void)[] = [];
  #controller = new AbortController();

  constructor(via: 'bindings' | 'options' = 'options') {
    this.#via = via;
  }

  /**
   * Has a hook misbehave, at the calls that `when` picks. One that `acts` first does what it is
   * there for, so that only what it gives back is wrong; one that throws does not get so far.
   */
  corrupt(place: HookPlace, behaviour: Behaviour, { acts = 'never', when }: Corruption = {}): void {
    const hook = this.hooks[place];
    const first = acts === 'always' || (acts === 'unless it throws' && behaviour.manner !== 'throws');
    this.hooks[place] = (...args) => {
      if (when?.(args) === false) return hook(...args);
      if (first) hook(...args);
      const good = (own = args): unknown => (first ? undefined : hook(...own));
      return behaviour.act({ args, good, reach: this });
    };
  }

  startTurn(): void {
    if (this.inner.length > 0) return;
    const loop = createAgentLoop(defaultAgentConfig());
    const ran: Promise<Settled>[] = this.inner;
    ran.push(Promise.resolve({ resolved: 'not yet' })); // what it calls may start no further one
    ran[0] = settled(loop.runTurnOutcome(this.#context(), 'inner'));
  }

  cancel(): void {
    this.#controller.abort('cancelled by a hook');
  }

  append(type: 'tool_call' | 'user_message'): void {
    if (type === 'user_message') this.log.append({ type, text: 'by the way' });
    else this.log.append({ type, id: 'nested', name: 'echo', args: {}, parent_id: 'a' });
  }

  held(): Promise<unknown> {
    return new Promise((resolve) => {
      this.#releases.push(resolve);
    });
  }

  /** Lets what was held go. */
  release(): void {
    for (const resolve of this.#releases.splice(0)) resolve(undefined);
  }

  /** Starts the turn. What the constructor of the loop throws is a rejection, too. */
  async run(): Promise<TurnOutcome> {
    const give = <T>(name: Argument, otherwise: T): T =>
      this.given.has(name) ? passedOffAs<T>(this.given.get(name)) : otherwise;
    const bound = this.#via === 'bindings' ? this.options() : {};
    const loop = createAgentLoop(
      give('config', defaultAgentConfig()),
      give<AgentLoopBindings>('bindings', bound),
    );
    const own = this.#via === 'options' ? this.options() : {};
    const context = give('ctx', this.#context());
    const input = give<string | null>('userInput', 'go');
    return loop.runTurnOutcome(context, input, give<TurnOptions>('turn options', own));
  }

  /** Another turn on the log, by a host of good manners. */
  async runNext(): Promise<TurnOutcome> {
    Object.assign(this.hooks, this.#goodHooks());
    for (const [token, service] of this.#makeServices()) {
      if (token !== SESSION_LOG_SERVICE) this.services.set(token, service);
    }
    this.scripts = SCRIPTS;
    this.given.clear();
    this.#controller = new AbortController();
    return this.run();
  }

  /** The options of a turn, or the bindings of its loop. */
  options(): AgentLoopBindings {
    return {
      signal: this.#controller.signal,
      sink: (event) => this.hooks.sink(event),
      usage: passedOffAs<UsageTracker>(this.#methods('usage')),
      injections: passedOffAs<InjectionSource>(this.#methods('injections')),
      contextPolicy: (input) => passedOffAs(this.hooks.contextPolicy(input)),
      prepareStep: (request, info) => passedOffAs(this.hooks.prepareStep(request, info)),
      timeouts: { streamIdleMs: 60_000, toolMs: 60_000 },
      onDiagnostic: (diagnostic) => this.hooks.onDiagnostic(diagnostic),
    };
  }

  #context(): Context {
    return passedOffAs<Context>({ get: (token: unknown) => this.hooks['Context.get'](token) });
  }

  /** An object whose methods are the hooks of one seam. */
  #methods(seam: string): object {
    const places = Object.keys(this.hooks).filter((place) => place.startsWith(`${seam}.`));
    const method = (place: string): Hook => {
      return (...args) => this.hooks[passedOffAs<HookPlace>(place)](...args);
    };
    return Object.fromEntries(
      places.map((place) => [place.slice(seam.length + 1), method(place)]),
    );
  }

  #makeServices(): Map<unknown, unknown> {
    const sizes = { singleResultBytes: 100, stepResultBytes: 1000 };
    const previews = { previewHeadBytes: 8, previewTailBytes: 8 };
    return new Map<unknown, unknown>([
      [LLM_SERVICE, this.#methods('Llm')],
      [SESSION_LOG_SERVICE, this.#methods('SessionLog')],
      [TOOL_REGISTRY_SERVICE, this.#methods('ToolRegistry')],
      [RETENTION_SERVICE, { ...sizes, ...previews, ...this.#methods('retention') }],
    ]);
  }

  #goodHooks(): Record<HookPlace, Hook> {
    return {
      'Context.get': (token) => this.services.get(token),
      ...this.#goodModel(),
      ...this.#goodLog(),
      ...this.#goodTools(),
      'usage.record': () => undefined,
      'usage.latest': () => zeroUsage(),
      'usage.total': () => zeroUsage(),
      'injections.drain': () => this.#mail.drain(),
      'injections.pending': () => this.#mail.pending(),
      'retention.spill': async () => {
        await quiet(1);
        return { locator: '/tmp/x', bytes: 500, retrievalHint: 'read it' };
      },
      sink: (event) => void this.events.push({ ...passedOffAs<LoopEvent>(event) }),
      contextPolicy: (input) => {
        const { messages, systemTokens, config } = passedOffAs<ContextPolicyInput>(input);
        const { context_window_tokens: window, context_trim_threshold: threshold } = config;
        return fitContext(messages, systemTokens, window, threshold, config.context_keep_recent);
      },
      prepareStep: () => undefined,
      onDiagnostic: (diagnostic) => {
        const { kind } = passedOffAs<Diagnostic>(diagnostic);
        this.told.set(kind, (this.told.get(kind) ?? 0) + 1);
      },
    };
  }

  #goodModel(): Pick<Record<HookPlace, Hook>, HookPlace & (`Llm.${string}` | `stream.${string}`)> {
    let asked = 0;
    let events: Iterator<StreamEvent> = [].values();
    return {
      'Llm.generate': async (request) => {
        const asking = passedOffAs<ModelRequest>(request);
        this.requests.push({ ...asking, messages: [...asking.messages] });
        events = (this.scripts[asked] ?? []).values();
        asked += 1;
        if (asked === 2) this.#mail.post('which day?');
        await quiet(1);
        return { [Symbol.asyncIterator]: () => this.hooks['stream.asyncIterator']() };
      },
      'stream.asyncIterator': () => ({
        next: () => this.hooks['stream.next'](),
        return: () => this.hooks['stream.return'](),
        throw: (error: unknown) => this.hooks['stream.throw'](error),
      }),
      'stream.next': async () => {
        await quiet(1);
        return events.next();
      },
      'stream.return': () => Promise.resolve({ done: true, value: undefined }),
      'stream.throw': () => Promise.resolve({ done: true, value: undefined }),
    };
  }

  #goodLog(): Pick<Record<HookPlace, Hook>, HookPlace & `SessionLog.${string}`> {
    return {
      'SessionLog.append': (row) => {
        this.log.append({ ...passedOffAs<SessionEvent>(row) });
      },
      'SessionLog.events': () => this.log.events(),
      'SessionLog.deriveMessages': () => this.log.deriveMessages(),
      'SessionLog.clear': () => {
        this.log.clear();
      },
      'SessionLog.nextTurnId': () => this.log.nextTurnId(),
      'SessionLog.flush': () => quiet(1),
    };
  }

  #goodTools(): Pick<Record<HookPlace, Hook>, HookPlace & `ToolRegistry.${string}`> {
    const tools = new FakeToolRegistry({ echo: () => quiet(1).then(() => LONG_RESULT) });
    return {
      'ToolRegistry.register': () => undefined,
      'ToolRegistry.addGuard': () => undefined,
      'ToolRegistry.get': (name) => tools.get(String(name)),
      'ToolRegistry.schemas': () => tools.schemas(),
      'ToolRegistry.dispatch': (input) => tools.dispatch(passedOffAs<ToolInput>(input)),
    };
  }
}
