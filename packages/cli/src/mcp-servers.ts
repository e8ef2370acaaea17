import { errorMessage } from '@celestea/agent-loop';
import { mcpTools, type McpToolsOptions } from '@celestea/tools/mcp';

import type { Refusal } from './complain.ts';
import { EXIT } from './exit-code.ts';
import type { McpServer } from './mcp-server.ts';
import { safeLine } from './safe-text.ts';
import { SharedTools } from './shared-tools.ts';

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
  /** How often one that died is started again; what `mcpTools` takes for usual when left out. */
  readonly restarts?: Pick<McpToolsOptions, 'restarts' | 'restartWindowMs'>;
}

const LONGEST_ERROR = 800;

/** Starts all servers; when one cannot be had, none is left running. Never rejects. */
export async function startServers(
  servers: readonly McpServer[],
  { typedIn, signal, restarts }: ServerPlaces,
): Promise<StartedServers | Refusal> {
  const tools = new SharedTools();
  if (servers.length === 0) return { ok: true, tools, close: () => Promise.resolve() };
  const starting = servers.map(async (server, index) =>
    mcpTools(sourceOf(server, typedIn), { ...restarts, prefix: `mcp${String(index + 1)}` }),
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
    try {
      if (result.status === 'rejected') throw result.reason;
      result.value.register(tools);
    } catch (problem) {
      await close();
      const error = safeLine(errorMessage(problem), LONGEST_ERROR);
      return { ok: false, code: EXIT.failed, error: `--mcp ${String(index + 1)}: ${error}` };
    }
  }
  return { ok: true, tools, close };
}

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
