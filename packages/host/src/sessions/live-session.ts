import {
  ContextBudgetError,
  DefaultAgentLoop,
  errorMessage,
  loopEventToSse,
  type ContextPolicy,
  type Diagnostic,
} from '@celestea/agent-loop';
import {
  Context,
  expectThat,
  LLM_SERVICE,
  outcomeError,
  outcomePhase,
  SESSION_LOG_SERVICE,
  TOOL_REGISTRY_SERVICE,
  usageAdd,
  zeroUsage,
  type Llm,
  type LoopEvent,
  type SessionEvent,
  type ToolRegistry,
} from '@celestea/core';
import { SessionLogBrokenError, type JsonlSessionLog } from '@celestea/session';

import type { HostEvent, HostStatus, Publish } from '../events/index.ts';
import type { WireContext, WireRunning } from '../wire.ts';
import { ApprovalDesk } from './approval-desk.ts';
import { reportContext, tellingCuts } from './context-report.ts';
import { HostError, logFailure, withLogFaults } from './host-error.ts';
import { SteeringLines, StreamedReply, type RunningTurn, type TurnEnd } from './running-turn.ts';
import type { LiveSessionParts, SessionLoop } from './session-parts.ts';
import { TurnLog } from './turn-log.ts';
import { TurnMeter } from './turn-meter.ts';

/** What a {@link LiveSession} is made with. */
interface LiveSessionOptions {
  readonly id: string;
  /** Open for writing; the session closes it. */
  readonly log: JsonlSessionLog;
  readonly publish: Publish;
  readonly parts: LiveSessionParts;
  /** Told after each turn, when nothing runs any more. */
  readonly onIdle: () => void;
}

/**
 * An open session and its running turn, of which there is one at a time. A turn belongs to the
 * session, not to who started it: only {@link cancel} and {@link close} end it early.
 *
 * Everything that happens is published: the events of the loop, and as `status` the phases
 * `start`, `progress`, `steer`, `steered`, `approval`, `diagnostic`, and how a turn ended. That
 * last one comes after `turn_end`, which is the last event of a turn, so that it belongs to none
 * and names the turn in its payload.
 */
export class LiveSession {
  readonly id: string;
  /** Where the questions of its calls are answered. */
  readonly approvals: ApprovalDesk;
  readonly #log: JsonlSessionLog;
  readonly #turnLog: TurnLog;
  readonly #parts: LiveSessionParts;
  readonly #tools: ToolRegistry;
  readonly #loop: SessionLoop;
  readonly #publish: Publish;
  readonly #now: () => number;
  readonly #onIdle: () => void;
  #turn: RunningTurn | null = null;
  #undelivered: readonly string[] = [];
  /** What the turns that are over cost. */
  #used = zeroUsage();
  readonly #fit: ContextPolicy = tellingCuts((payload) => {
    this.#publish({ name: 'compact', turn: this.#turnOfEvents(), payload });
  });
  #broken: string | null = null;
  #isClosed = false;
  #closing: Promise<void> | null = null;

  /** Throws what `parts.tools` and `parts.loop` throw. */
  constructor({ id, log, publish, parts, onIdle }: LiveSessionOptions) {
    this.id = id;
    this.#log = log;
    this.#turnLog = new TurnLog(log, (row) => this.#turn?.reply.onRow(row));
    this.#publish = publish;
    this.#now = parts.now ?? Date.now;
    this.#onIdle = onIdle;
    this.#parts = parts;
    this.#loop = parts.loop?.(parts.config, id) ?? new DefaultAgentLoop(parts.config);
    const turn = (): string | null => this.#turnOfEvents();
    this.approvals = new ApprovalDesk({ publish, turn, now: this.#now });
    this.#tools = parts.tools(this.approvals);
    this.#tellInterrupted();
  }

  /** Why no turn can run in here any more; `null` while turns can. It is to be opened anew then. */
  get broken(): string | null {
    return this.#broken;
  }

  /** What the turn that ended last did not take of what was sent to it, until the next starts. */
  get undelivered(): readonly string[] {
    return this.#undelivered;
  }

  /** Whether it was told to close. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Starts a turn and gives its id; how it goes is published. Throws a {@link HostError}: `busy`
   * while a turn runs, `invalid` for an empty input, `gone` when the session is closed,
   * `damaged` when its log is, `failed` when that cannot be written.
   */
  startTurn(input: string): string {
    this.#checkOpen();
    checkInput(input);
    const running = this.#turn;
    if (running !== null) {
      const since = new Date(running.startedMs).toISOString();
      throw new HostError('busy', `${running.id} runs in session ${this.id} since ${since}`);
    }
    if (this.#broken !== null) throw new HostError('failed', this.#broken);
    const turn = this.#newTurn(this.#reserveTurnId(), input);
    this.#turn = turn;
    this.#undelivered = [];
    this.#status({ phase: 'start', turn: turn.id, input });
    turn.stopProgress = this.#startProgress(turn);
    turn.done = this.#run(turn);
    return turn.id;
  }

  /**
   * Sends something to the turn that runs, which reads it before its next step. What it did not
   * take when it ends is given back as `undelivered` of its last status. Throws a
   * {@link HostError}: `idle` when nothing runs, else as {@link startTurn}.
   */
  steer(input: string): void {
    const turn = this.#running();
    checkInput(input);
    turn.steering.push(input);
    this.#status({ phase: 'steer', input, waiting: turn.steering.pending() });
  }

  /** Cancels the turn that runs; it ends on its own time. Throws as {@link steer} does. */
  cancel(reason?: string): void {
    expectThat(reason === undefined || typeof reason === 'string', 'reason', 'a text', reason);
    this.#abort(this.#running(), reason);
  }

  /** Whether a call of that name has a tool. */
  hasTool(name: string): boolean {
    return this.#tools.get(name) !== undefined;
  }

  /** The turn that runs, or `null`. */
  running(): WireRunning | null {
    if (this.#turn === null) return null;
    const { id: turn, input, startedMs: started_ms, meter, reply, steering } = this.#turn;
    const { text, thinking } = reply;
    const waiting = steering.waiting();
    return { turn, input, started_ms, step: meter.steps, reply: { text, thinking }, waiting };
  }

  /**
   * Every row of the log, to be read only: what {@link running} says of a reply is not among
   * them, and all else that was published is. Throws a {@link HostError} `failed` or `damaged`.
   */
  rows(): readonly SessionEvent[] {
    try {
      return this.#turnLog.rows;
    } catch (error) {
      throw logFailure(this.id, error);
    }
  }

  /**
   * What the next request would be and what it takes. Throws a {@link HostError}: `failed` when
   * none would fit, `gone` when the session is closed.
   */
  context(): WireContext {
    this.#checkOpen();
    try {
      const request = this.#loop.contextSnapshot(this.#context(this.#parts.llm));
      return reportContext(request, this.#loop.agentConfig);
    } catch (error) {
      if (!(error instanceof ContextBudgetError)) throw error;
      throw new HostError('failed', error.message, { cause: error });
    }
  }

  /**
   * Cancels what runs, waits for its end and closes the log; a second call waits for the first.
   * Rejects with a {@link HostError} `failed` when rows may not be on the disk.
   */
  close(): Promise<void> {
    this.#isClosed = true;
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const turn = this.#turn;
    if (turn !== null) {
      this.#abort(turn, 'the session is closed');
      await turn.done;
    }
    this.approvals.withdrawAll();
    await withLogFaults(this.id, () => this.#log.close());
  }

  #newTurn(id: string, input: string): RunningTurn {
    const onTaken = (inputs: readonly string[]): void => {
      this.#status({ phase: 'steered', inputs });
    };
    return {
      id,
      input,
      startedMs: this.#now(),
      reply: new StreamedReply(),
      meter: new TurnMeter(this.#now),
      steering: new SteeringLines(onTaken),
      cancel: new AbortController(),
      isOver: false,
      cancelReason: null,
      stopProgress: () => undefined,
      done: Promise.resolve(),
    };
  }

  /** Runs the turn to its end, whatever that is; never rejects. */
  async #run(turn: RunningTurn): Promise<void> {
    try {
      const ctx = this.#context(turn.meter.watch(this.#parts.llm));
      const outcome = await this.#loop.runTurnOutcome(ctx, turn.input, {
        signal: turn.cancel.signal,
        sink: (event) => {
          this.#onEvent(turn, event);
        },
        usage: turn.meter.usage,
        injections: turn.steering,
        contextPolicy: this.#fit,
        timeouts: this.#parts.timeouts,
        onDiagnostic: (diagnostic) => {
          const message = this.#withoutPath(diagnosticText(diagnostic));
          this.#status({ phase: 'diagnostic', kind: diagnostic.kind, message });
        },
      });
      const fault = outcomeError(outcome);
      const error = fault === null ? {} : { error: this.#withoutPath(fault) };
      this.#end(turn, { phase: outcomePhase(outcome), ...error });
    } catch (fault) {
      this.#end(turn, { phase: 'error', error: this.#faultText(fault) });
    }
  }

  /** What broke a seam, for people; notes whether the log can go on. */
  #faultText(fault: unknown): string {
    const isLog = fault instanceof SessionLogBrokenError;
    const text = this.#withoutPath(errorMessage(fault));
    // a turn without an end in the log is ended when the log is opened anew
    if (isLog || this.#turnLog.holdsOpenTurn) {
      this.#broken = isLog ? text : `session ${this.id} could not write the end of a turn: ${text}`;
    }
    return text;
  }

  /** Where its log lies is of no interest to who reads of a fault. */
  #withoutPath(text: string): string {
    return text.replaceAll(this.#log.path, `session ${this.id}`);
  }

  #onEvent(turn: RunningTurn, event: LoopEvent): void {
    if (event.kind === 'text' || event.kind === 'thinking') turn.meter.countDelta();
    if (event.kind === 'text') turn.reply.text += event.delta;
    if (event.kind === 'thinking') turn.reply.thinking += event.delta;
    if (event.kind === 'turn_end') turn.stopProgress();
    const { event: name, payload } = loopEventToSse(event);
    const { error } = payload;
    const isFailure = name === 'turn_end' && typeof error === 'string';
    const shown = isFailure ? { ...payload, error: this.#withoutPath(error) } : payload;
    // both are written after contracts/sse-events.json
    this.#publish({ name, turn: turn.id, payload: shown } as HostEvent);
    if (event.kind === 'turn_end') turn.isOver = true;
  }

  #end(turn: RunningTurn, end: TurnEnd): void {
    turn.isOver = true;
    turn.stopProgress();
    this.approvals.withdrawAll();
    this.#turn = null;
    const usage = turn.meter.usage.total();
    this.#used = usageAdd(this.#used, usage);
    this.#undelivered = turn.steering.takeBack();
    const { cancelReason: reason } = turn;
    this.#status({
      ...end,
      ...(end.phase === 'cancelled' && reason !== null ? { reason } : {}),
      turn: turn.id,
      steps: turn.meter.steps,
      milliseconds: this.#now() - turn.startedMs,
      usage,
      total: { ...this.#used },
      undelivered: this.#undelivered,
    });
    this.#onIdle();
  }

  /** Tells of the progress whenever there was some; gives back what stops that. */
  #startProgress(turn: RunningTurn): () => void {
    let told = '';
    const timer = setInterval(() => {
      const progress = this.#progress(turn);
      const text = JSON.stringify(progress);
      if (text === told) return;
      told = text;
      this.#status(progress);
    }, this.#parts.progressMs ?? 1000);
    return () => {
      clearInterval(timer);
    };
  }

  #progress({ meter }: RunningTurn): HostStatus {
    const usage = meter.usage.total();
    return {
      phase: 'progress',
      steps: meter.steps,
      deltas_per_second: meter.takeRate(),
      context_tokens: meter.contextTokens,
      window: this.#loop.agentConfig.context_window_tokens,
      usage,
      total: usageAdd(this.#used, usage),
    };
  }

  #context(llm: Llm): Context {
    return Context.root()
      .provide(LLM_SERVICE, llm)
      .provide(SESSION_LOG_SERVICE, this.#turnLog)
      .provide(TOOL_REGISTRY_SERVICE, this.#tools);
  }

  #reserveTurnId(): string {
    try {
      return this.#turnLog.reserveTurnId();
    } catch (error) {
      throw logFailure(this.id, error);
    }
  }

  #abort(turn: RunningTurn, reason: string | undefined): void {
    if (turn.cancel.signal.aborted) return;
    turn.cancelReason = reason ?? null;
    turn.cancel.abort(new DOMException(reason ?? 'the turn was cancelled', 'AbortError'));
  }

  /** A turn that died with its process was ended when the log was opened. */
  #tellInterrupted(): void {
    const { interruptedTurn } = this.#log.report;
    if (interruptedTurn === null) return;
    this.#status({ phase: 'interrupted', turn: interruptedTurn });
  }

  #status(payload: HostStatus): void {
    this.#publish({ name: 'status', turn: this.#turnOfEvents(), payload });
  }

  /** The turn that events belong to now. */
  #turnOfEvents(): string | null {
    return this.#turn === null || this.#turn.isOver ? null : this.#turn.id;
  }

  #running(): RunningTurn {
    this.#checkOpen();
    if (this.#turn !== null) return this.#turn;
    throw new HostError('idle', `no turn runs in session ${this.id}`);
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new HostError('gone', `session ${this.id} is closed`);
  }
}

/** Throws a {@link HostError} `invalid` for an input without a word. */
function checkInput(input: string): void {
  expectThat(typeof input === 'string', 'input', 'a text', input);
  if (input.trim() === '') throw new HostError('invalid', 'expected some words, got an empty text');
}

function diagnosticText({ message, error }: Diagnostic): string {
  return error === undefined ? message : `${message}: ${errorMessage(error)}`;
}
