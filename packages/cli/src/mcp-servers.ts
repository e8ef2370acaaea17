import { errorMessage, raceAbort } from '@celestea/agent-loop';
import type { Tool, ToolRegistry } from '@celestea/core';
import { DefaultToolRegistry } from '@celestea/tools';
import { mcpTools, type McpToolsOptions } from '@celestea/mcp';

import { EXIT, failed, Refusal } from './exit.ts';
import type { McpServer } from './option-values.ts';
import { safeLine } from './text.ts';

/** The servers that run, whose tools are shared. They are closed by who started them. */
export interface StartedServers {
  readonly tools: SharedTools;
  /** Ends the servers. Never rejects. */
  readonly close: () => Promise<void>;
}

/**
 * Starts all servers, in the folder where the person is; the signal gives up on those that are
 * being started. Rejects with a {@link Refusal} when one cannot be had, and none is left running.
 */
export async function startServers(
  servers: readonly McpServer[],
  cwd: string,
  signal: AbortSignal,
  restarts: Pick<McpToolsOptions, 'restarts' | 'restartWindowMs'>,
): Promise<StartedServers> {
  const tools = new SharedTools();
  if (servers.length === 0) return { tools, close: () => Promise.resolve() };
  const starting = servers.map(async (server, index) => {
    const source = 'url' in server ? server : { ...server, cwd };
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
    throw new Refusal(EXIT.cancelled, 'cancelled while the MCP servers were started');
  }
  for (const [index, result] of race.value.entries()) {
    try {
      if (result.status === 'rejected') throw result.reason;
      result.value.register(tools);
    } catch (problem) {
      await close();
      throw failed(`--mcp ${String(index + 1)}: ${safeLine(errorMessage(problem), 800)}`);
    }
  }
  return { tools, close };
}

/**
 * Tools that come and go, as those of a server do, for any number of registries. A name that a
 * registry has from elsewhere stays as it is there. It holds on to no registry: one that nobody
 * uses any more is gone with whatever hangs on it.
 */
export class SharedTools extends DefaultToolRegistry {
  readonly #followers = new Set<WeakRef<ToolRegistry>>();
  readonly #gone = new FinalizationRegistry<WeakRef<ToolRegistry>>((follower) => {
    this.#followers.delete(follower);
  });

  /** Takes a tool, and hands it to the registries that follow. Throws when it cannot be used. */
  override register(tool: Tool): void {
    const { name } = tool.spec();
    const before = this.get(name);
    super.register(tool);
    for (const follower of this.#followers) handOver(tool, before, name, follower.deref());
  }

  /** Puts the tools into a registry and keeps them current there. */
  follow(registry: ToolRegistry): void {
    for (const { name } of this.schemas()) {
      const tool = this.get(name);
      if (tool !== undefined) handOver(tool, undefined, name, registry);
    }
    const follower = new WeakRef(registry);
    this.#followers.add(follower);
    this.#gone.register(registry, follower);
  }
}

function handOver(tool: Tool, before: Tool | undefined, name: string, to?: ToolRegistry): void {
  const there = to?.get(name);
  if (there === undefined || there === before) to?.register(tool);
}
