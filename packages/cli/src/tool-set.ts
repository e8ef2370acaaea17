import { resolve } from 'node:path';

import { errorMessage } from '@celestea/agent-loop';
import type { ToolRegistry } from '@celestea/core';
import {
  askBefore,
  DefaultToolRegistry,
  fileTools,
  workTools,
  type ApprovalService,
} from '@celestea/tools';
import { mcpTools, type McpTools } from '@celestea/tools/mcp';

import type { Refusal } from './complain.ts';
import { EXIT } from './exit-code.ts';
import type { McpServer } from './mcp-server.ts';
import { kindAt } from './places.ts';
import { safeLine } from './safe-text.ts';
import type { ToolSettings } from './tool-settings.ts';

/** The tools the model is offered. They are closed by who opened them. */
export interface ToolSet {
  readonly registry: ToolRegistry;
  /** Whether a call of the tool has to be approved. */
  readonly asks: (name: string) => boolean;
  /** Ends the servers. Never rejects. */
  readonly close: () => Promise<void>;
}

/** What tools are opened with. */
export interface ToolPlaces {
  /** The folder, as it was given; `null` for the current one. */
  readonly root: string | null;
  /** Where the person is. */
  readonly typedIn: string;
  readonly approvals: ApprovalService;
  /** Gives up on servers that are being started. */
  readonly signal: AbortSignal;
}

/** The tools, or why there are none. */
export type OpenedToolSet =
  | { readonly ok: true; readonly tools: ToolSet; readonly root: string }
  | Refusal;

/** What is wrong with the folder, before anything else is done; `null` when nothing is. */
export function checkRoot(places: Pick<ToolPlaces, 'root' | 'typedIn'>): Refusal | null {
  try {
    const problem = rootProblem(rootOf(places));
    return problem === null ? null : badRoot(places, problem);
  } catch (error) {
    return badRoot(places, errorMessage(error));
  }
}

/** Opens the tools over a folder, and those of the servers. Never rejects. */
export async function openToolSet(
  settings: ToolSettings,
  places: ToolPlaces,
): Promise<OpenedToolSet> {
  const root = rootOf(places);
  const registry = new DefaultToolRegistry({ findApproval: () => places.approvals });
  const reading = new Set<string>();
  const working = new Set<string>();
  const problem = checkRoot(places);
  if (problem !== null) return problem;
  try {
    for (const tool of fileTools(root)) {
      reading.add(tool.spec().name);
      registry.register(tool);
    }
    if (!settings.readOnly) {
      const { tools, guard } = workTools(root, settings.yes ? { ask: false } : {});
      for (const tool of tools) {
        working.add(tool.spec().name);
        registry.register(tool);
      }
      registry.addGuard(guard);
    }
  } catch (error) {
    return badRoot(places, errorMessage(error));
  }
  if (!settings.yes) {
    // Whatever else there is: what a server says of its tools is not to be relied on.
    const isForeign = (name: string): boolean =>
      !reading.has(name) && !working.has(name) && registry.get(name) !== undefined;
    registry.addGuard(askBefore(({ name }) => isForeign(name), 'it is a tool of an MCP server'));
  }
  const started = await startServers(settings.servers, registry, places);
  if (!started.ok) return started;
  const asks = (name: string): boolean => !settings.yes && !reading.has(name);
  return { ok: true, root, tools: { registry, asks, close: started.close } };
}

type Started = { readonly ok: true; readonly close: () => Promise<void> } | Refusal;

/** Starts all servers and registers their tools; when one cannot be had, none is left running. */
async function startServers(
  servers: readonly McpServer[],
  registry: ToolRegistry,
  { typedIn, signal }: ToolPlaces,
): Promise<Started> {
  if (servers.length === 0) return { ok: true, close: () => Promise.resolve() };
  const starting = servers.map(async (server, index) =>
    mcpTools(sourceOf(server, typedIn), { prefix: `mcp${String(index + 1)}` }),
  );
  const all = Promise.allSettled(starting);
  const close = async (): Promise<void> => {
    const running = (await all).filter((result) => result.status === 'fulfilled');
    await Promise.all(running.map(({ value }) => value.close()));
  };
  const results = await unlessAborted(all, signal);
  if (results === null) {
    void close(); // as soon as they have started
    const error = 'cancelled while the MCP servers were started';
    return { ok: false, code: EXIT.cancelled, error };
  }
  for (const [index, result] of results.entries()) {
    const problem: unknown =
      result.status === 'rejected' ? result.reason : registered(result.value);
    if (problem === null) continue;
    await close();
    const error = safeLine(errorMessage(problem), LONGEST_ERROR);
    return { ok: false, code: EXIT.failed, error: `--mcp ${String(index + 1)}: ${error}` };
  }
  return { ok: true, close };

  function registered(tools: McpTools): unknown {
    try {
      tools.register(registry);
      return null;
    } catch (error) {
      return error;
    }
  }
}

const LONGEST_ERROR = 800;

function sourceOf(server: McpServer, cwd: string): Parameters<typeof mcpTools>[0] {
  if (server.kind === 'url') return { url: server.url };
  return { command: server.command, args: server.args, cwd };
}

/** `null` when the signal aborts first. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | null> {
  if (signal.aborted) return null;
  let onAbort = (): void => undefined;
  const aborted = new Promise<null>((done) => {
    onAbort = () => {
      done(null);
    };
    signal.addEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** The folder, absolute. */
export const rootOf = ({ root, typedIn }: Pick<ToolPlaces, 'root' | 'typedIn'>): string =>
  resolve(typedIn, root ?? '.');

function rootProblem(root: string): string | null {
  const kind = kindAt(root);
  if (kind === 'folder') return null;
  const shown = `"${safeLine(root, 400)}"`;
  return kind === 'nothing'
    ? `the folder ${shown} does not exist`
    : `expected a folder, but ${shown} is something else`;
}

function badRoot({ root }: Pick<ToolPlaces, 'root'>, problem: string): Refusal {
  const option = root === null ? 'the current folder' : '--root';
  return { ok: false, code: EXIT.misuse, error: `${option}: ${problem}` };
}
