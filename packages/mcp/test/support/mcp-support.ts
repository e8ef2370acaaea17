import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { DefaultToolRegistry } from '@celestea/tools';
import {
  mcpTools,
  type McpProgress,
  type McpSource,
  type McpTools,
  type McpToolsChange,
  type McpToolsOptions,
} from '@celestea/mcp';
import type { ToolOutput } from '@celestea/core';
import { afterEach } from 'vitest';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** The well-behaved server, over stdio. */
export const goodServer = {
  command: process.execPath,
  args: [path('server.mjs')],
} as const;

/** The server that keeps no rule. */
export const hostileServer = (
  way: string,
  tools: unknown = [],
  result: unknown = {},
): McpSource => ({
  command: process.execPath,
  args: [path('hostile.mjs'), way, JSON.stringify(tools), JSON.stringify(result)],
});

const opened: McpTools[] = [];
const servers: HttpServer[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
  await Promise.all(servers.splice(0).map((each) => each.end()));
});

/** Tools of a server that is closed after the test. */
export async function open(source: McpSource, options?: McpToolsOptions): Promise<McpTools> {
  const tools = await mcpTools(source, options);
  opened.push(tools);
  return tools;
}

/** A registry with the tools of a server, and how to call them. */
export async function openRegistry(
  source: McpSource,
  options?: McpToolsOptions,
): Promise<{ mcp: McpTools; registry: DefaultToolRegistry; call: Call }> {
  const mcp = await open(source, options);
  const registry = new DefaultToolRegistry();
  mcp.register(registry);
  let count = 0;
  const call: Call = (name, args = {}, signal) => {
    const input = { call_id: `call-${String((count += 1))}`, name, args };
    return registry.dispatch(input, signal === undefined ? {} : { signal });
  };
  return { mcp, registry, call };
}

export type Call = (name: string, args?: unknown, signal?: AbortSignal) => Promise<ToolOutput>;

/** A text with which something failed. */
export async function failure(promise: Promise<unknown>): Promise<string> {
  const came = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  if (came instanceof Error) return came.message;
  throw new Error('expected a failure');
}

/** The next change of the tools. */
export function nextChange(mcp: McpTools): Promise<McpToolsChange> {
  return new Promise((resolve) => {
    const off = mcp.onChange((change) => {
      off();
      resolve(change);
    });
  });
}

/** An `onProgress` that can be waited for. */
export function progressEvents(): {
  onProgress: (progress: McpProgress) => void;
  next: () => Promise<McpProgress>;
} {
  const came: McpProgress[] = [];
  const waiting: ((progress: McpProgress) => void)[] = [];
  return {
    onProgress: (progress) => {
      const first = waiting.shift();
      if (first === undefined) came.push(progress);
      else first(progress);
    },
    next: () => {
      const first = came.shift();
      return first === undefined
        ? new Promise((resolve) => waiting.push(resolve))
        : Promise.resolve(first);
    },
  };
}

/** Whether a process runs; one that is dead and waits for its parent to look does not. */
export function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    return !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return false;
  }
}

/** Resolves when a process does not run any more. */
export async function gone(pid: number): Promise<void> {
  while (runs(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Waits until something is so. */
export async function until(check: () => boolean): Promise<void> {
  while (!check()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** The well-behaved server as a process that listens on 127.0.0.1. */
export class HttpServer {
  readonly #child: ChildProcess;
  readonly #lines: Interface;
  readonly #exited: Promise<void>;
  port = 0;

  private constructor(port: number) {
    const args = [path('server.mjs'), '--http', String(port)];
    this.#child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    const { stdout } = this.#child;
    if (stdout === null) throw new Error('no stdout');
    this.#lines = createInterface({ input: stdout });
    this.#exited = new Promise((resolve) => {
      this.#child.once('close', () => {
        resolve();
      });
    });
  }

  static async start(port = 0): Promise<HttpServer> {
    const server = new HttpServer(port);
    servers.push(server);
    server.port = Number(await server.line());
    return server;
  }

  get source(): { url: string; headers: Record<string, string> } {
    return {
      url: `http://127.0.0.1:${String(this.port)}/mcp`,
      headers: { authorization: 'Bearer secret' },
    };
  }

  /** The next line of its output. */
  line(): Promise<string> {
    return new Promise((resolve) => this.#lines.once('line', resolve));
  }

  async end(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
    this.#lines.close();
  }
}
