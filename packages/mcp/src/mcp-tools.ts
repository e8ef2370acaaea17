import type { Tool, ToolInput, ToolRegistry } from '@celestea/core';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';

import { Connection } from './connection.ts';
import { listTools } from './list-tools.ts';
import { readOptions, type McpToolsOptions } from './options.ts';
import { resultValue } from './result-value.ts';
import { readSource, type McpSource } from './source.ts';
import { MAX_TIMER_MS } from './stoppable.ts';
import { noLongerOffered, quietly, ToolSet, type McpToolsChange } from './tool-set.ts';

/** The tools of one MCP server. */
export interface McpTools {
  /** The tools the server offers now. */
  tools(): Tool[];
  /**
   * Registers the tools, and keeps the registry current until `close`: new tools are added, and
   * a tool that is gone is replaced by one that says so and fails. Throws, and registers
   * nothing, when a tool of somebody else has one of the names.
   */
  register(registry: ToolRegistry): void;
  /** What the server calls itself; it may say anything. */
  readonly serverName: string;
  /**
   * Ends the connection: calls in flight fail, a child process is ended with all it started. A
   * client that was handed in stays connected. Resolves when it is done; never rejects.
   */
  close(): Promise<void>;
  /** Calls a listener after each change of the tools; gives back what ends that. */
  onChange(listener: (change: McpToolsChange) => void): () => void;
}

/**
 * The tools of an MCP server, to be called like any other: started or connected to, listed, and
 * followed when the list changes. A server that dies fails the calls in flight and is started
 * again on the next call, `restarts` times in all or within `restartWindowMs`.
 *
 * Rejects with a `TypeError` that names an option or a part of the source that is wrong, and with
 * an `Error` that names the server and the end of its stderr when it cannot be started.
 *
 * @example
 * const files = await mcpTools({ command: 'my-file-server', args: ['.'] }, { prefix: 'files' });
 * files.register(registry);
 * // … turns …
 * await files.close();
 */
export async function mcpTools(
  source: McpSource,
  options: McpToolsOptions = {},
): Promise<McpTools> {
  const settings = readOptions(options);
  const dial = readSource(source);
  const { startTimeoutMs, putImage, onProgress } = settings;
  const timeout = settings.callTimeoutMs || MAX_TIMER_MS;
  const call = (own: string, { name, args, call_id }: ToolInput, signal?: AbortSignal) =>
    connection.use(signal, async (session) => {
      if (!tools.offers(name)) throw new Error(noLongerOffered(name));
      const about: RequestOptions = {
        timeout,
        resetTimeoutOnProgress: true,
        onprogress: ({ progress, total, message }) => {
          const told = { tool: name, callId: call_id, progress, total, message };
          quietly(() => onProgress?.(told));
        },
        ...(signal === undefined ? {} : { signal }),
      };
      const result = await session.request('tools/call', { name: own, arguments: args ?? {} }, about);
      return resultValue(result, putImage);
    });
  const tools = new ToolSet(settings.prefix, (own, spec) => ({
    spec: () => spec,
    execute: (args, { signal } = {}) => call(own, { call_id: '', name: spec.name, args }, signal),
    executeWith: async (input, { signal } = {}) => ({
      value: await call(own, { ...input, name: spec.name }, signal),
      render: null,
    }),
  }));
  const connection = new Connection({
    ...settings,
    dial,
    now: () => performance.now(),
    list: async (session) => {
      const offered = await listTools(session, startTimeoutMs);
      if (session.ended === null) tools.update(offered);
    },
  });
  const close = async (): Promise<void> => {
    tools.close();
    await connection.close();
  };
  try {
    await connection.start();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    tools: () => tools.tools(),
    register: (registry) => {
      tools.register(registry);
    },
    get serverName() {
      return connection.name;
    },
    close,
    onChange: (listener) => tools.onChange(listener),
  };
}
