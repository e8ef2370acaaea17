import { expectThat, isRecord, type Tool, type ToolGuard, type ToolInput } from '@celestea/core';

import { FileRoot } from '../files/file-root.ts';
import { askBefore } from '../guards.ts';
import { judgedInput } from '../judged-input.ts';
import { readAddedEnvironment } from './environment.ts';
import { runCommandTool } from './run-command.ts';
import { writeFileTool } from './write-file.ts';

const DEFAULT_GRACE_MS = 2_000;
const MAX_GRACE_MS = 60_000;

/** How {@link workTools} are set up. */
export interface WorkToolsOptions {
  /**
   * Which calls are to be approved first: all of them when left out, those a function says
   * `true` to, or none with `false`. Then a model writes and runs as it likes.
   */
  ask?: false | ((input: ToolInput) => boolean);
  /**
   * Added to what a command finds in its environment: `PATH` without relative folders, `HOME`,
   * `LANG`, `LC_ALL`, `LC_CTYPE`, `LOGNAME`, `SHELL`, `TMPDIR`, `TZ`, `USER` and `TERM=dumb`.
   */
  env?: Readonly<Record<string, string>>;
  /** How many milliseconds a command has to end when it is asked to; 2000 when left out. */
  graceMs?: number;
}

/** The tools that change things, and the guard that has their calls approved. */
export interface WorkTools {
  /** `run_command` and `write_file`. */
  tools: Tool[];
  /** Belongs to the tools: without it each of their calls is an error. */
  guard: ToolGuard;
}

/**
 * `write_file` and `run_command` over one folder, with the guard that asks before them. The two
 * cannot be had without asking by mistake: a call that the guard was not asked about is refused by
 * the tool itself, so that a guard that was forgotten is an error and not an open door. Whoever
 * wants no questions says `ask: false`; then the guard has nothing to do and may be left out.
 *
 * Who answers is the registry's `findApproval`, or what stands under `APPROVAL_SERVICE`. Without
 * either, every call is refused.
 *
 * Throws a `TypeError` when `root` is no path or an option is wrong, an `Error` when no folder
 * stands at `root`.
 *
 * @example
 * const { tools, guard } = workTools('.');
 * mountPlugins(ctx, [toolRegistryPlugin([...fileTools('.'), ...tools], [guard])]);
 */
export function workTools(root: string, options: WorkToolsOptions = {}): WorkTools {
  const { ask, env, graceMs } = readOptions(options);
  const files = new FileRoot(root);
  const tools = [runCommandTool(files, { env, graceMs }), writeFileTool(files)];
  if (ask === false) return { tools, guard: askBefore([]) };
  const names = new Set(tools.map((tool) => tool.spec().name));
  const asking = askBefore(
    (input) => names.has(input.name) && (ask === undefined || ask(input)),
    'it can change things on this machine',
  );
  const asked = new WeakSet<ToolInput>();
  return {
    tools: tools.map((tool) => onlyAfter(asked, tool)),
    guard: {
      check: (input) => {
        asked.add(input);
        return asking.check(input);
      },
    },
  };
}

/**
 * A tool that runs the calls its guard was asked about, and no others. A registry knows
 * which input it put to the guards for the one it hands to the tool: that is looked up by identity.
 * One that hands the very same input to both is as good.
 */
function onlyAfter(asked: WeakSet<ToolInput>, tool: Tool): Tool {
  const { name } = tool.spec();
  const refuse = (): never => {
    throw new Error(`${name} needs the guard that comes with it, which was not asked`);
  };
  return {
    ...tool,
    execute: () => Promise.resolve().then(refuse),
    executeWith: async (input, options) => {
      if (!asked.has(judgedInput(input))) refuse();
      const outcome = await tool.executeWith?.(input, options);
      return outcome ?? { value: await tool.execute(input.args, options), render: null };
    },
  };
}

function readOptions(options: WorkToolsOptions): {
  ask: WorkToolsOptions['ask'];
  env: Record<string, string>;
  graceMs: number;
} {
  const given: unknown = options;
  expectThat(isRecord(given), 'options', 'an object', given);
  const { ask, graceMs = DEFAULT_GRACE_MS } = options;
  const isAsk = ask === undefined || ask === false || typeof ask === 'function';
  expectThat(isAsk, 'ask', 'a function, false or nothing', ask);
  const isGrace = typeof graceMs === 'number' && graceMs >= 0 && graceMs <= MAX_GRACE_MS;
  const expected = `a number of milliseconds from 0 to ${String(MAX_GRACE_MS)}`;
  expectThat(isGrace, 'graceMs', expected, graceMs);
  return { ask, env: readAddedEnvironment(options.env), graceMs };
}
