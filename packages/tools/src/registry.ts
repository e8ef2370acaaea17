import {
  describeValue,
  type Tool,
  type ToolCallOptions,
  type ToolDecision,
  type ToolExecOutcome,
  type ToolGuard,
  type ToolInput,
  type ToolOutput,
  type ToolRegistry,
  type ToolSpec,
} from '@celestea/core';

import { judgeCall } from './guard.ts';
import { isRecord, mismatch } from './shape.ts';
import { cutText } from './text.ts';
import { thrownText } from './thrown.ts';
import { readToolSpec } from './tool-spec.ts';

const MAX_NAMES_LENGTH = 2_000;

/** How a {@link DefaultToolRegistry} is set up. */
export interface ToolRegistryOptions {
  /**
   * Guards that are looked up anew at each dispatch and asked after those of `addGuard`. When
   * the look-up throws, the call is denied.
   */
  findGuards?: () => readonly ToolGuard[];
}

/** Tools by name, behind guards (C3.6, C3.7). */
export class DefaultToolRegistry implements ToolRegistry {
  readonly #tools = new Map<string, { tool: Tool; spec: ToolSpec }>();
  readonly #guards: ToolGuard[] = [];
  readonly #findGuards: () => readonly ToolGuard[];
  #schemas: readonly ToolSpec[] | null = null;

  /** Throws a `TypeError` when an option is of the wrong type. */
  constructor(options: ToolRegistryOptions = {}) {
    const { findGuards = () => [] } = options;
    if (typeof findGuards !== 'function') {
      throw new TypeError(mismatch('findGuards', 'a function', findGuards));
    }
    this.#findGuards = findGuards;
  }

  /**
   * Adds a tool under the name of its spec, which is read this once; the last tool of a name
   * wins. Throws a `TypeError` that says what was expected and what came when the tool or its
   * spec cannot be used.
   */
  register(tool: Tool): void {
    const spec = specOf(tool);
    this.#tools.set(spec.name, { tool, spec });
    this.#schemas = null;
  }

  /** Adds a guard, asked after those added before. Throws a `TypeError` when it is none. */
  addGuard(guard: ToolGuard): void {
    checkMethod(guard, 'guard', 'check');
    this.#guards.push(guard);
  }

  /** The last tool registered under a name. */
  get(name: string): Tool | undefined {
    return this.#tools.get(name)?.tool;
  }

  /**
   * What a model is told of the tools, sorted by name in code-unit order: a fresh array of
   * frozen specs, which stay the same objects until a tool is registered.
   */
  schemas(): ToolSpec[] {
    this.#schemas ??= [...this.#tools.keys()].sort().flatMap((name) => {
      const entry = this.#tools.get(name);
      return entry === undefined ? [] : [entry.spec];
    });
    return [...this.#schemas];
  }

  /**
   * Asks the guards, then runs the tool, `executeWith` before `execute` (C3.5 to C3.7). It never
   * throws or rejects: a refusal, an unknown tool and a tool that fails are outputs with an
   * `error`, and a call whose signal aborted while it was judged does not start. `decision` is
   * `null` without guards. A tool that ignores its signal is waited for.
   */
  async dispatch(input: ToolInput, options: ToolCallOptions = {}): Promise<ToolOutput> {
    const call = snapshot(input);
    const decision = await this.#judge(call);
    if (decision !== null && decision.kind !== 'allow') {
      return failed(call, refusalText(decision), decision);
    }
    try {
      if (options.signal?.aborted === true) {
        return failed(call, 'cancelled before the tool ran', decision);
      }
      const tool = this.get(call.name);
      if (tool === undefined) return failed(call, this.#unknownText(call.name), decision);
      const outcome = await run(tool, call, options);
      return { call_id: call.call_id, ...outcome, error: null, decision };
    } catch (thrown) {
      return failed(call, thrownText(thrown), decision);
    }
  }

  async #judge(call: ToolInput): Promise<ToolDecision | null> {
    try {
      return await judgeCall([...this.#guards, ...this.#findGuards()], call);
    } catch (thrown) {
      return { kind: 'deny', reason: `the guards could not be found: ${thrownText(thrown)}` };
    }
  }

  #unknownText(name: unknown): string {
    const names = [...this.#tools.keys()].sort().join(', ');
    const known = names === '' ? 'there are no tools' : `the tools are: ${names}`;
    return cutText(`unknown tool ${describeValue(name)}; ${known}`, MAX_NAMES_LENGTH);
  }
}

/** One frozen view for guards and tool: what was judged is what runs. */
function snapshot(input: ToolInput): ToolInput {
  try {
    const { call_id, name, args } = input;
    return Object.freeze({ call_id, name, args });
  } catch {
    return Object.freeze({ call_id: '', name: '', args: null });
  }
}

function specOf(tool: Tool): ToolSpec {
  checkMethod(tool, 'tool', 'spec');
  checkMethod(tool, 'tool', 'execute');
  let spec: unknown;
  try {
    spec = tool.spec();
  } catch (thrown) {
    const text = `tool: expected spec() to give a spec, but it threw: ${thrownText(thrown)}`;
    throw new TypeError(text, { cause: thrown });
  }
  return readToolSpec(spec, 'tool');
}

function checkMethod(value: unknown, name: string, method: string): void {
  if (!isRecord(value)) throw new TypeError(mismatch(name, 'an object', value));
  if (typeof value[method] !== 'function') {
    throw new TypeError(mismatch(`${name}.${method}`, 'a function', value[method]));
  }
}

function refusalText(decision: Exclude<ToolDecision, { kind: 'allow' }>): string {
  switch (decision.kind) {
    case 'deny':
      return `denied: ${decision.reason}`;
    case 'ask':
      return `needs approval, and nobody is there to give it: ${decision.reason}`;
    default:
      return decision satisfies never;
  }
}

async function run(
  tool: Tool,
  call: ToolInput,
  options: ToolCallOptions,
): Promise<ToolExecOutcome> {
  if (typeof tool.executeWith !== 'function') {
    return { value: presentable(await tool.execute(call.args, options)), render: null };
  }
  const outcome: unknown = await tool.executeWith(call, options);
  if (!isRecord(outcome)) {
    throw new TypeError(mismatch('executeWith', 'an object with value and render', outcome));
  }
  const { value, render, surface } = outcome;
  return {
    value: presentable(value),
    render: typeof render === 'string' ? render : null,
    ...(isRecord(surface) ? { surface } : {}),
  };
}

/** JSON has no `undefined`. */
const presentable = (value: unknown): unknown => (value === undefined ? null : value);

function failed(call: ToolInput, error: string, decision: ToolDecision | null): ToolOutput {
  return { call_id: call.call_id, value: null, render: null, error, decision };
}
