import { getEventListeners } from 'node:events';

import { createAgentLoop } from '@celestea/agent-loop';
import { done, FakeToolRegistry, steeringSource, testContext } from '@celestea/agent-loop/testing';
import {
  defaultAgentConfig,
  type Context,
  type GenerateOptions,
  type Llm,
  type LlmStream,
  type ModelRequest,
  type SessionLog,
  type StreamEvent,
  type ToolCall,
} from '@celestea/core';

import type { Watched } from './soak-table.ts';

/** Bounds a request: far fewer messages than a long log has. */
const WINDOW_TOKENS = 4_000;

/** What a turn of the soak is; they come one after the other. */
const SHAPES = ['answer', 'tools', 'steered', 'cancelled in a tool', 'cancelled in words'] as const;
type Shape = (typeof SHAPES)[number];

const shapeOf = (turn: number): Shape => SHAPES[turn % SHAPES.length] ?? 'answer';

/** A text of its own for every place, as real ones are: nothing is shared between rows. */
const words = (place: string): string => Buffer.from(place.padEnd(120, ' and so on')).toString();

export const listenersOf = (signal: AbortSignal): number =>
  getEventListeners(signal, 'abort').length;

/** Answers by the shape of the turn and its step; keeps nothing of what it was asked. */
class ShapedLlm implements Llm {
  readonly #watch: (request: ModelRequest) => void;
  readonly #cancel: () => void;
  readonly #turn: number;
  #step = 0;

  constructor(turn: number, watch: (request: ModelRequest) => void, cancel: () => void) {
    this.#turn = turn;
    this.#watch = watch;
    this.#cancel = cancel;
  }

  generate(request: ModelRequest, options?: GenerateOptions): Promise<LlmStream> {
    this.#watch(request);
    const step = this.#step;
    this.#step += 1;
    return Promise.resolve(this.#reply(step, options?.signal));
  }

  async *#reply(step: number, signal: AbortSignal | undefined): AsyncGenerator<StreamEvent> {
    const place = `${String(this.#turn)}-${String(step)}`;
    const shape = shapeOf(this.#turn);
    yield { kind: 'thinking', text: words(`thought ${place}`), meta: { signature: words(place) } };
    for (let delta = 0; delta < 8; delta += 1) yield { kind: 'text', text: 'word ' };
    if (shape === 'cancelled in words') {
      this.#cancel();
      await new Promise(() => undefined); // a stream that never hears of it
    }
    const calls = shape === 'answer' || step > 1 ? [] : ['echo', 'act'];
    signal?.throwIfAborted();
    const made = calls.map((name): ToolCall => {
      return { id: `${place}-${name}`, name, args: { of: words(place) } };
    });
    yield done(words(`reply ${place}`), ...made);
  }
}

/** Turns of every shape on one log, all on one signal that lives as long as its process. */
export class Soak {
  readonly signal: AbortSignal = new AbortController().signal;
  readonly watched: Watched = { listeners: 0, messages: 0, outcomes: {} };
  readonly #log: SessionLog;
  readonly #loop: ReturnType<typeof createAgentLoop>;

  constructor(log: SessionLog) {
    this.#log = log;
    this.#loop = createAgentLoop(
      defaultAgentConfig({ context_window_tokens: WINDOW_TOKENS, max_parallel_tool_calls: 2 }),
      {
        signal: this.signal,
        sink: () => {
          this.#look();
        },
      },
    );
  }

  /** Runs a turn and gives the listeners that it left on the shared signal. */
  async run(turn: number): Promise<number> {
    const shape = shapeOf(turn);
    const host = new AbortController();
    const injections = steeringSource();
    const cancel = (): void => {
      host.abort(new Error(`cancelled in turn ${String(turn)}`));
    };
    const ctx = this.#context(turn, cancel, {
      echo: (args) => args,
      act: () => {
        this.#look();
        if (shape === 'steered') injections.push(words(`steer ${String(turn)}`), 'Ann');
        if (shape !== 'cancelled in a tool') return words(`did ${String(turn)}`);
        cancel();
        return new Promise(() => undefined);
      },
    });
    const options = { injections, signal: host.signal };
    const outcome = await this.#loop.runTurnOutcome(ctx, words(`ask ${String(turn)}`), options);
    const name = typeof outcome === 'string' ? outcome : `error{${outcome.error.kind}}`;
    this.watched.outcomes[name] = (this.watched.outcomes[name] ?? 0) + 1;
    return listenersOf(this.signal) + listenersOf(host.signal);
  }

  #context(
    turn: number,
    cancel: () => void,
    tools: ConstructorParameters<typeof FakeToolRegistry>[0],
  ): Context {
    const watch = ({ messages }: ModelRequest): void => {
      this.watched.messages = Math.max(this.watched.messages, messages.length);
    };
    const llm = new ShapedLlm(turn, watch, cancel);
    return testContext({ llm, log: this.#log, tools: new FakeToolRegistry(tools) });
  }

  #look(): void {
    this.watched.listeners = Math.max(this.watched.listeners, listenersOf(this.signal));
  }
}
