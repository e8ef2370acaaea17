import {
  isRecord,
  type Tool,
  type ToolCallOptions,
  type ToolExecOutcome,
  type ToolGuard,
  type ToolInput,
  type ToolOutput,
  type ToolRegistry,
  type ToolSpec,
} from '@celestea/core';

import { errorMessage } from '../cancel.ts';
import { requireThat } from './require.ts';

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
  readonly #tools = new Map<string, Tool>();
  #running = 0;

  /** Throws a `TypeError` when a tool is no function. */
  constructor(tools: Record<string, FakeTool> = {}) {
    requireThat(isRecord(tools), 'tools: expected an object of functions', tools);
    for (const [name, run] of Object.entries(tools)) {
      requireThat(typeof run === 'function', `tools.${name}: expected a function`, run);
      this.#tools.set(name, functionTool(name, run));
    }
  }

  /** Adds a tool; one of the same name is replaced. */
  register(tool: Tool): void {
    const { spec, execute } = (tool as Partial<Tool> | null | undefined) ?? {};
    const fits = typeof spec === 'function' && typeof execute === 'function';
    requireThat(fits, 'tool: expected a tool with spec and execute', tool);
    this.#tools.set(tool.spec().name, tool);
  }

  /** Keeps a guard among {@link guards}; none is asked. */
  addGuard(guard: ToolGuard): void {
    this.guards.push(guard);
  }

  /** The tool of that name. */
  get(name: string): Tool | undefined {
    return this.#tools.get(name);
  }

  /** What the tools say of themselves, by name. */
  schemas(): ToolSpec[] {
    const tools = [...this.#tools].sort(([a], [b]) => (a < b ? -1 : 1));
    return tools.map(([, tool]) => tool.spec());
  }

  /** Runs a tool and answers as a registry has to: what it throws is an error in the answer. */
  async dispatch(input: ToolInput, options: ToolCallOptions = {}): Promise<ToolOutput> {
    this.dispatched.push(input);
    this.#running += 1;
    this.maxConcurrent = Math.max(this.maxConcurrent, this.#running);
    const answer = { call_id: input.call_id, render: null, decision: null };
    try {
      const tool = this.#tools.get(input.name);
      if (tool === undefined) {
        return { ...answer, value: null, error: `unknown tool ${input.name}` };
      }
      const { value, render, surface } = await runTool(tool, input, options);
      const shown = surface === undefined ? {} : { surface };
      return { ...answer, value: value ?? null, render, error: null, ...shown };
    } catch (error) {
      return { ...answer, value: null, error: errorMessage(error) };
    } finally {
      this.#running -= 1;
      this.settled.push(input.call_id);
    }
  }
}

/** `executeWith` is preferred where a tool has it. */
async function runTool(
  tool: Tool,
  input: ToolInput,
  options: ToolCallOptions,
): Promise<ToolExecOutcome> {
  if (tool.executeWith !== undefined) return tool.executeWith(input, options);
  return { value: await tool.execute(input.args, options), render: null };
}

function functionTool(name: string, run: FakeTool): Tool {
  const call = (input: ToolInput, { signal }: ToolCallOptions = {}): Promise<unknown> =>
    new Promise((resolve) => {
      resolve(run(input.args, { input, signal }));
    });
  return {
    spec: () => ({
      name,
      description: `the fake tool ${name}`,
      parameters: { type: 'object' },
    }),
    execute: (args, options) => call({ call_id: '', name, args }, options),
    executeWith: async (input, options) => ({ value: await call(input, options), render: null }),
  };
}

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

  /** Settles when the door is opened. */
  wait(): Promise<void> {
    this.waiting += 1;
    return this.#opened;
  }

  /** Lets in who waits, and who comes. */
  open(): void {
    this.#open();
  }
}
