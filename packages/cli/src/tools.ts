import type { Tool, ToolGuard, ToolRegistry } from '@celestea/core';
import {
  askBefore,
  DefaultToolRegistry,
  fileTools,
  workTools,
  type ApprovalService,
} from '@celestea/tools';
import type { McpToolsOptions } from '@celestea/mcp';

import { Approvals } from './approvals.ts';
import { EXIT, type ExitCode } from './exit.ts';
import type { CliIo } from './io.ts';
import { startServers } from './mcp-servers.ts';
import type { Options } from './options.ts';
import { findPlaces, type Places } from './places.ts';
import { styleOf } from './style.ts';
import { safeJson, safeLine } from './text.ts';

/** The tools the model is offered. They are closed by who opened them. */
export interface ToolSet {
  /** They in a registry of its own, whose calls are approved there; servers are shared by all. */
  readonly registryFor: (approvals: ApprovalService) => ToolRegistry;
  /** Whether a call of the tool has to be approved. */
  readonly asks: (name: string) => boolean;
  /** Ends the servers. Never rejects. */
  readonly close: () => Promise<void>;
}

/**
 * Opens the tools over a folder, and those of the servers. The signal gives up on servers that are
 * being started. Rejects with a {@link Refusal} that says which server cannot be had.
 */
export async function openToolSet(
  { mcp, readOnly, yes }: Options,
  { root, typedIn }: Places,
  signal: AbortSignal,
  restarts: Pick<McpToolsOptions, 'restarts' | 'restartWindowMs'> = {},
): Promise<ToolSet> {
  const { close, tools: foreign } = await startServers(mcp, typedIn, signal, restarts);
  const reading = fileTools(root);
  const working = workTools(root, yes ? { ask: false } : {});
  const own = readOnly ? reading : [...reading, ...working.tools];
  const names = own.map(nameOf);
  const free = new Set(reading.map(nameOf));
  const registryFor = (approvals: ApprovalService): ToolRegistry => {
    const registry = new DefaultToolRegistry({ findApproval: () => approvals });
    for (const tool of own) registry.register(tool);
    if (!readOnly) registry.addGuard(working.guard);
    foreign.follow(registry);
    if (!yes) registry.addGuard(askForeign(names, registry));
    return registry;
  };
  return { registryFor, asks: (name) => !yes && !free.has(name), close };
}

const nameOf = (tool: Tool): string => tool.spec().name;

/** Whatever else there is asks: what a server says of its tools is not to be relied on. */
function askForeign(own: readonly string[], registry: ToolRegistry): ToolGuard {
  const isForeign = (name: string): boolean =>
    !own.includes(name) && registry.get(name) !== undefined;
  return askBefore(({ name }) => isForeign(name), 'it is a tool of an MCP server');
}

/** Lists what the model is offered: as lines for people, or the specs as JSON lines. */
export async function runTools(options: Options, io: CliIo): Promise<ExitCode> {
  const places = findPlaces(options.root, io);
  const tools = await openToolSet(options, places, io.signal);
  try {
    const { bold, yellow, dim } = styleOf(io);
    const specs = tools.registryFor(new Approvals()).schemas();
    const width = Math.max(...specs.map(({ name }) => name.length));
    for (const spec of specs) {
      if (options.json) {
        io.stdout.write(`${safeJson(JSON.stringify(spec))}\n`);
        continue;
      }
      const name = safeLine(spec.name, 64);
      const [line = ''] = spec.description.trim().split('\n');
      const asking = tools.asks(spec.name) ? yellow('asks') : '    ';
      const gap = ' '.repeat(Math.max(0, width - name.length));
      const shown = `${bold(name)}${gap}  ${asking}  ${dim(safeLine(line, 200))}`;
      io.stdout.write(`${shown.trimEnd()}\n`);
    }
    return EXIT.completed;
  } finally {
    await tools.close();
  }
}
