import { TURN_OUTCOMES } from '@celestea/core';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

import type { HostEvent, HostStatus } from '../events/index.ts';
import type { SeenRequest } from './seen.ts';

/** What {@link HostMetrics} works with. */
export interface HostMetricsOptions {
  /** Streams of events that are open. */
  readonly readers: () => number;
  /** Sessions that are open. */
  readonly openSessions: () => number;
  /** Whether a session has a tool of that name. */
  readonly isTool: (session: string, name: string) => boolean;
}

/** Tools that have a label of their own. A model may call by any name, so others have none. */
const MAX_TOOLS = 100;
const MAX_TOOL_NAME = 64;
const OTHER_TOOL = 'other';

/** From a reply at once to an hour, in seconds. */
const TURN_SECONDS = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600];

/** The metrics of one host, in a registry of its own. */
export class HostMetrics {
  readonly #registry = new Registry();
  readonly #started = this.#counter('turns_started_total', 'Turns that were started.');
  readonly #ended = this.#counter('turns_ended_total', 'Turns that ended, by outcome.', 'outcome');
  readonly #running = this.#gauge('turns_running', 'Turns that run.');
  readonly #seconds = new Histogram({
    name: 'celestea_turn_duration_seconds',
    help: 'How long turns took.',
    buckets: TURN_SECONDS,
    registers: [this.#registry],
  });
  readonly #steps = this.#counter('model_steps_total', 'Requests to the model of ended turns.');
  readonly #tokens = this.#counter(
    'model_tokens_total',
    'Tokens of ended turns. cached are among input, reasoning among output.',
    'kind',
  );
  readonly #tools = this.#counter(
    'tool_calls_total',
    'Tool calls that were answered.',
    'tool',
    'ok',
  );
  readonly #events = this.#counter('events_published_total', 'Events of all sessions.');
  readonly #lagged = this.#counter(
    'stream_readers_lagged_total',
    'Times that a reader had missed more than the host keeps.',
  );
  readonly #waiting = this.#gauge('approvals_waiting', 'Calls that wait for a person.');
  readonly #requests = this.#counter(
    'http_requests_total',
    'Requests answered; a stream when it begins.',
    'route',
    'method',
    'status',
  );
  /** The tools of calls that run: by session, then by call. */
  readonly #calls = new Map<string, Map<string, string>>();
  readonly #toolNames = new Set<string>();
  readonly #isTool: HostMetricsOptions['isTool'];

  constructor({ readers, openSessions, isTool }: HostMetricsOptions) {
    this.#isTool = isTool;
    this.#gauge('stream_readers', 'Streams of events that are open.', readers);
    this.#gauge('sessions_open', 'Sessions that are open.', openSessions);
    for (const outcome of TURN_OUTCOMES) this.#ended.inc({ outcome }, 0);
  }

  /** The type of {@link text}. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All of it in the text format of Prometheus. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  onEvent(session: string, { name, payload }: HostEvent): void {
    this.#events.inc();
    switch (name) {
      case 'tool':
        this.#callsOf(session).set(payload.id, this.#toolLabel(session, payload.name));
        return;
      case 'tool_result': {
        const tool = this.#callsOf(session).get(payload.id) ?? OTHER_TOOL;
        this.#tools.inc({ tool, ok: String(payload.ok) });
        return;
      }
      case 'question':
        this.#waiting.inc();
        return;
      case 'status':
        this.#onStatus(session, payload);
        return;
      case 'text':
      case 'thinking':
      case 'turn_end': // the status that comes after it says more
      case 'done':
      case 'compact':
        return;
      default:
        name satisfies never;
    }
  }

  onRequest({ route, method, status }: SeenRequest): void {
    this.#requests.inc({ route, method, status });
  }

  onLag(): void {
    this.#lagged.inc();
  }

  #onStatus(session: string, status: HostStatus): void {
    if (status.phase === 'approval') this.#waiting.dec();
    else if (status.phase === 'start') {
      this.#started.inc();
      this.#running.inc();
    } else if ('milliseconds' in status) {
      const { phase: outcome, steps = 0, milliseconds = 0, usage } = status;
      this.#calls.delete(session);
      this.#running.dec();
      this.#ended.inc({ outcome });
      this.#steps.inc(countOf(steps));
      this.#seconds.observe(countOf(milliseconds) / 1000);
      this.#tokens.inc({ kind: 'input' }, countOf(usage?.prompt_tokens));
      this.#tokens.inc({ kind: 'output' }, countOf(usage?.completion_tokens));
      this.#tokens.inc({ kind: 'cached' }, countOf(usage?.cache_read));
      this.#tokens.inc({ kind: 'reasoning' }, countOf(usage?.reasoning_tokens));
    }
  }

  #callsOf(session: string): Map<string, string> {
    const calls = this.#calls.get(session) ?? new Map<string, string>();
    this.#calls.set(session, calls);
    return calls;
  }

  #toolLabel(session: string, name: string): string {
    if (name.length > MAX_TOOL_NAME || !this.#isTool(session, name)) return OTHER_TOOL;
    if (this.#toolNames.size < MAX_TOOLS) this.#toolNames.add(name);
    return this.#toolNames.has(name) ? name : OTHER_TOOL;
  }

  #counter<Label extends string>(
    name: string,
    help: string,
    ...labelNames: Label[]
  ): Counter<Label> {
    return new Counter({ name: `celestea_${name}`, help, labelNames, registers: [this.#registry] });
  }

  #gauge(name: string, help: string, read?: () => number): Gauge {
    const collect = read === undefined ? {} : { collect: readInto(read) };
    return new Gauge({ name: `celestea_${name}`, help, registers: [this.#registry], ...collect });
  }
}

/** A clock may go back, and a model may count anything: neither may break a counter. */
const countOf = (value = 0): number => (Number.isFinite(value) && value > 0 ? value : 0);

/** The client calls it with the gauge as `this`. */
const readInto = (read: () => number) =>
  function collect(this: Gauge): void {
    this.set(read());
  };
