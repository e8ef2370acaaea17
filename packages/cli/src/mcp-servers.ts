import { errorMessage, raceAbort } from '@celestea/agent-loop';
import type { Tool, ToolRegistry } from '@celestea/core';
import { DefaultToolRegistry } from '@celestea/tools';
import { mcpTools, type McpToolsOptions } from '@celestea/mcp';

import { cancelled, failed, type Refusal } from './exit.ts';
import type { McpServer } from './option-values.ts';
import { safeLine } from './text.ts';

/** The servers that run, whose tools are shared. They are closed by who started them. */
export interface StartedServers {
  readonly ok: true;
  readonly tools: SharedTools;
  /** Ends the servers. Never rejects. */
  readonly close: () => Promise<void>;
}

/** What servers are started with. */
export interface ServerPlaces {
  /** Where the person is; commands run there. */
  readonly typedIn: string;
  /** Gives up on servers that are being started. */
  readonly signal: AbortSignal;
  /** How often one that died is started again. */
  readonly restarts: Pick<McpToolsOptions, 'restarts' | 'restartWindowMs'>;
}

/** Starts all servers; when one cannot be had, none is left running. Never rejects. */
export async function startServers(
  servers: readonly McpServer[],
  { typedIn, signal, restarts }: ServerPlaces,
): Promise<StartedServers | Refusal> {
  const tools = new SharedTools();
  if (servers.length === 0) return { ok: true, tools, close: () => Promise.resolve() };
  const starting = servers.map(async (server, index) => {
    const source = 'url' in server ? server : { ...server, cwd: typedIn };
    return mcpTools(source, { ...restarts, prefix: `mcp${String(index + 1)}` });
  });
  const all = Promise.allSettled(starting);
  const close = async (): Promise<void> => {
    const running = (await all).filter((result) => result.status === 'fulfilled');
    await Promise.all(running.map(({ value }) => value.close()));
  };
  const race = await raceAbort(signal, all);
  if (race.outcome !== 'ok') {
    void close(); // as soon as they have started
    return cancelled('cancelled while the MCP servers were started');
  }
  for (const [index, result] of race.value.entries()) {
    try {
      if (result.status === 'rejected') throw result.reason;
      result.value.register(tools);
    } catch (problem) {
      await close();
      return failed(`--mcp ${String(index + 1)}: ${safeLine(errorMessage(problem), 800)}`);
    }
  }
  return { ok: true, tools, close };
}

/** So few registries are not worth a look at whether each is still used. */
const FEW = 64;

/**
 * Tools that come and go, as those of a server do, for any number of registries. A name that a
 * registry has from elsewhere stays as it is there. It holds on to no registry: one that nobody
 * uses any more is gone with whatever hangs on it.
 */
export class SharedTools extends DefaultToolRegistry {
  readonly #followers = new Set<WeakRef<ToolRegistry>>();
  /** How many followers there may be until those that are gone are forgotten. */
  #room = FEW;

  /** Takes a tool, and hands it to the registries that follow. Throws when it cannot be used. */
  override register(tool: Tool): void {
    const { name } = tool.spec();
    const before = this.get(name);
    super.register(tool);
    for (const reference of this.#followers) {
      const follower = reference.deref();
      if (follower === undefined) this.#followers.delete(reference);
      else handOver(tool, before, name, follower);
    }
  }

  /** Puts the tools into a registry and keeps them current there. */
  follow(registry: ToolRegistry): void {
    for (const { name } of this.schemas()) {
      const tool = this.get(name);
      if (tool !== undefined) handOver(tool, undefined, name, registry);
    }
    if (this.#followers.size >= this.#room) this.#forgetGone();
    this.#followers.add(new WeakRef(registry));
  }

  /** Makes room for twice those that live, so that following costs a look or two on average. */
  #forgetGone(): void {
    for (const reference of this.#followers) {
      if (reference.deref() === undefined) this.#followers.delete(reference);
    }
    this.#room = Math.max(FEW, 2 * this.#followers.size);
  }
}

function handOver(tool: Tool, before: Tool | undefined, name: string, to: ToolRegistry): void {
  const there = to.get(name);
  if (there === undefined || there === before) to.register(tool);
}
