import {
  describeValue,
  expectThat,
  isRecord,
  type Tool,
  type ToolCallOptions,
  type ToolDecision,
  type ToolGuard,
  type ToolInput,
  type ToolOutput,
  type ToolRegistry,
  type ToolSpec,
} from '@celestea/core';

import { checkApprovalTimeout, type ApprovalService } from './approval.ts';
import { readArguments, type CallArguments } from './call-arguments.ts';
import { denied, judgeCall, type Judgement } from './guard.ts';
import { noteJudged } from './judged-input.ts';
import { nearestNames } from './nearest-names.ts';
import { plainValue } from './plain-value.ts';
import { compileSchema, type SchemaCheck } from './schema-check.ts';
import { atOnce, mismatch } from './shape.ts';
import { cutText } from './text.ts';
import { thrownText } from './thrown.ts';
import { readToolSpec } from './tool-spec.ts';

const MAX_NAMES_LENGTH = 2_000;

/** Of a call that no guard was asked about. */
const UNJUDGED: Judgement = { decision: null, refusal: null };

interface Entry {
  readonly tool: Tool;
  readonly spec: ToolSpec;
  readonly check: SchemaCheck;
}

/** How a {@link DefaultToolRegistry} is set up. */
export interface ToolRegistryOptions {
  /**
   * Guards that are looked up anew at each dispatch and asked after those of `addGuard`. When
   * the look-up throws, the call is denied.
   */
  findGuards?: () => readonly ToolGuard[];
  /**
   * Looks, at each `ask` of a guard, for who can approve the call. Without it, or when it finds
   * nobody, an `ask` refuses; when it throws, the call is denied.
   */
  findApproval?: () => ApprovalService | undefined;
  /** How many milliseconds an approval is waited for; when left out, as long as it takes. */
  approvalTimeoutMs?: number;
}

/** Tools by name, behind guards (C3.6, C3.7). */
export class DefaultToolRegistry implements ToolRegistry {
  readonly #tools = new Map<string, Entry>();
  readonly #guards: ToolGuard[] = [];
  readonly #options: ToolRegistryOptions;
  #schemas: readonly ToolSpec[] | null = null;

  /** Throws a `TypeError` when an option is of the wrong type. */
  constructor(options: ToolRegistryOptions = {}) {
    for (const name of ['findGuards', 'findApproval'] as const) {
      const find: unknown = options[name];
      expectThat(find === undefined || typeof find === 'function', name, 'a function', find);
    }
    checkApprovalTimeout(options.approvalTimeoutMs);
    this.#options = { ...options };
  }

  /**
   * Adds a tool under the name of its spec, which is read this once; the last tool of a name
   * wins. Throws a `TypeError` that says what was expected and what came when the tool, its spec
   * or the JSON Schema in it cannot be used.
   */
  register(tool: Tool): void {
    const spec = specOf(tool);
    this.#tools.set(spec.name, { tool, spec, check: checkOf(spec) });
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
   * Checks the arguments, asks the guards, then runs the tool, `executeWith` before `execute`
   * (C3.5 to C3.7). It never throws or rejects: arguments that do not fit, a refusal, an unknown
   * tool and a tool that fails are outputs with an `error`, and a call whose signal aborted while
   * it was judged does not start; one that waits for approval is answered at once. `decision` is
   * `null` when no guard was asked. A tool that ignores its signal is waited for. The value given
   * back is plain JSON and bounded.
   *
   * Arguments come first so that guards see what will be used, not a text that is yet to be
   * parsed, and nobody is asked to approve a call that cannot run. Guards and approvers get a
   * frozen copy, the tool one of its own: none can change what another was asked about. A call of
   * an unknown tool is put to the guards as it came.
   */
  async dispatch(input: ToolInput, options: ToolCallOptions = {}): Promise<ToolOutput> {
    const { call_id, name } = input;
    const entry = this.#tools.get(name);
    const read = argumentsOf(input.args, entry);
    if (!read.ok) return failed(call_id, read.error, null);
    const call: ToolInput = { call_id, name, args: read.args };
    const { signal } = options;
    const judging = this.#judge(call, read.judged, signal);
    const { decision, refusal } = judging === null ? UNJUDGED : await judging;
    if (refusal !== null) return failed(call_id, refusal, decision);
    if (signal?.aborted === true) return failed(call_id, 'cancelled before the tool ran', decision);
    if (entry === undefined) return failed(call_id, this.#unknownText(name), decision);
    try {
      const { tool } = entry;
      if (typeof tool.executeWith === 'function') return await runWith(tool, call, options, decision);
      const value = plainValue(await tool.execute(call.args, options));
      return { call_id, value, render: null, error: null, decision };
    } catch (thrown) {
      return failed(call_id, thrownText(thrown), decision);
    }
  }

  /** `null` when there is nobody to ask: then no copy is made for them, and nothing waited for. */
  #judge(
    call: ToolInput,
    args: () => unknown,
    signal: AbortSignal | undefined,
  ): Promise<Judgement> | Judgement | null {
    try {
      const { findGuards, findApproval: find, approvalTimeoutMs: timeoutMs } = this.#options;
      const found = findGuards === undefined ? [] : atOnce('findGuards', findGuards());
      const guards = [...this.#guards, ...found];
      if (guards.length === 0) return null;
      const judged = Object.freeze({ ...call, args: args() });
      noteJudged(call, judged);
      return judgeCall(guards, judged, { find, timeoutMs, signal });
    } catch (thrown) {
      return denied(`the guards could not be found: ${thrownText(thrown)}`);
    }
  }

  #unknownText(name: string): string {
    const all = [...this.#tools.keys()];
    const names = nearestNames(name, all);
    const which = names.length < all.length ? `the nearest of ${String(all.length)}` : 'the';
    const known = names.length === 0 ? 'there are no tools' : `${which} tools are: `;
    const text = `unknown tool ${describeValue(name)}; ${known}${names.join(', ')}`;
    return cutText(text, MAX_NAMES_LENGTH);
  }
}

function specOf(tool: Tool): ToolSpec {
  checkMethod(tool, 'tool', 'spec');
  checkMethod(tool, 'tool', 'execute');
  return readToolSpec(tool.spec(), 'tool');
}

function checkOf({ name, parameters }: ToolSpec): SchemaCheck {
  try {
    return compileSchema(parameters);
  } catch (thrown) {
    const text = `tool ${name}: parameters: expected a JSON Schema that can be used, but `;
    throw new TypeError(text + thrownText(thrown), { cause: thrown });
  }
}

function argumentsOf(args: unknown, entry: Entry | undefined): CallArguments {
  if (entry === undefined) return { ok: true, args, judged: () => args };
  return readArguments(args, entry.spec.parameters, entry.check);
}

function checkMethod(value: unknown, name: string, method: string): void {
  expectThat(isRecord(value), name, 'an object', value);
  expectThat(typeof value[method] === 'function', `${name}.${method}`, 'a function', value[method]);
}

async function runWith(
  tool: Tool,
  call: ToolInput,
  options: ToolCallOptions,
  decision: ToolDecision | null,
): Promise<ToolOutput> {
  const outcome: unknown = await tool.executeWith?.(Object.freeze(call), options);
  if (!isRecord(outcome)) {
    throw new TypeError(mismatch('executeWith', 'an object with value and render', outcome));
  }
  const { value, render, surface } = outcome;
  const output: ToolOutput = {
    call_id: call.call_id,
    value: plainValue(value),
    render: typeof render === 'string' ? String(plainValue(render)) : null,
    error: null,
    decision,
  };
  const shown = isRecord(surface) ? plainValue(surface) : null;
  if (isRecord(shown)) output.surface = shown;
  return output;
}

function failed(call_id: string, error: string, decision: ToolDecision | null): ToolOutput {
  return { call_id, value: null, render: null, error: error.toWellFormed(), decision };
}
