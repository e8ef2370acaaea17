import { errorMessage } from '../cancel.ts';

import type {
  Tool,
  ToolCallOptions,
  ToolGuard,
  ToolInput,
  ToolOutput,
  ToolRegistry,
  ToolSpec,
} from '@celestea/core';

/** What a fake tool is told besides its arguments. */
export interface FakeToolCall {
  readonly input: ToolInput;
  readonly signal: AbortSignal | undefined;
}

/** A tool as a function; what it throws is the call's error. */
export type FakeTool = (args: unknown, call: FakeToolCall) => unknown;

/** A registry of functions that records order and concurrency. Guards are kept, not asked. */
export class FakeToolRegistry implements ToolRegistry {
  /** Inputs in the order they were dispatched. */
  readonly dispatched: ToolInput[] = [];
  /** Call ids in the order they settled. */
  readonly settled: string[] = [];
  readonly guards: ToolGuard[] = [];
  /** The most calls that ran at the same time. */
  maxConcurrent = 0;
  readonly #tools: Map<string, FakeTool>;
  #running = 0;

  constructor(tools: Record<string, FakeTool> = {}) {
    this.#tools = new Map(Object.entries(tools));
  }

  register(tool: Tool): void {
    this.#tools.set(tool.spec().name, (args, { signal }) =>
      tool.execute(args, signal === undefined ? {} : { signal }),
    );
  }

  addGuard(guard: ToolGuard): void {
    this.guards.push(guard);
  }

  get(name: string): Tool | undefined {
    const run = this.#tools.get(name);
    if (run === undefined) return undefined;
    return {
      spec: () => fakeSpec(name),
      execute: (args, options) => {
        const call = { input: { call_id: '', name, args }, signal: options?.signal };
        return Promise.resolve().then(() => run(args, call));
      },
    };
  }

  schemas(): ToolSpec[] {
    return [...this.#tools.keys()].sort().map(fakeSpec);
  }

  async dispatch(input: ToolInput, options?: ToolCallOptions): Promise<ToolOutput> {
    this.dispatched.push(input);
    this.#running += 1;
    this.maxConcurrent = Math.max(this.maxConcurrent, this.#running);
    const answer = { call_id: input.call_id, render: null, decision: null };
    try {
      const run = this.#tools.get(input.name);
      if (run === undefined) return { ...answer, value: null, error: `unknown tool ${input.name}` };
      const value = await run(input.args, { input, signal: options?.signal });
      return { ...answer, value: value ?? null, error: null };
    } catch (error) {
      return { ...answer, value: null, error: errorMessage(error) };
    } finally {
      this.#running -= 1;
      this.settled.push(input.call_id);
    }
  }
}

const fakeSpec = (name: string): ToolSpec => ({
  name,
  description: `the fake tool ${name}`,
  parameters: { type: 'object' },
});

/** A door that work waits at until the test opens it. */
export class Gate {
  /** How often it was waited for. */
  waiting = 0;
  readonly #opened: Promise<void>;
  #open: () => void = () => undefined;

  constructor() {
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  wait(): Promise<void> {
    this.waiting += 1;
    return this.#opened;
  }

  open(): void {
    this.#open();
  }
}
