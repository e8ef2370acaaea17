import type { Tool, ToolInput, ToolRegistry, ToolSpec } from '@celestea/core';

import { isRecord } from '@celestea/core';
import { mismatch } from './text.ts';
import { Connection } from './connection.ts';
import { RELIST_PAUSE_MS } from './limits.ts';
import { listTools } from './list-tools.ts';
import { readOptions, type McpProgress, type McpToolsOptions } from './options.ts';
import { Relisting } from './relisting.ts';
import { resultValue } from './result-value.ts';
import type { RequestExtras } from './session.ts';
import { readSource, type McpSource } from './source.ts';
import { after, onAbort } from './stoppable.ts';
import { noLongerOffered, ToolSet, type McpToolsChange } from './tool-set.ts';

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
  const call = async (own: string, spec: ToolSpec, input: ToolInput, signal?: AbortSignal) => {
    const args = input.args ?? {};
    if (!isRecord(args)) throw new Error(mismatch('arguments', 'an object', args));
    const { callTimeoutMs } = settings;
    const late = (): Error =>
      new Error(`MCP server ${connection.name}: no answer within ${String(callTimeoutMs)} ms`);
    const extras: RequestExtras = {
      stops: [onAbort(signal), after(callTimeoutMs, late)],
      ...progressOf(options, spec.name, input.call_id),
    };
    return connection.use(extras.stops ?? [], async (session) => {
      if (!tools.offers(spec.name)) throw new Error(noLongerOffered(spec.name));
      const result = await session.request('tools/call', { name: own, arguments: args }, extras);
      return resultValue(result, settings.putImage);
    });
  };
  const tools = new ToolSet(settings, (own, spec) => ({
    spec: () => spec,
    execute: (args, { signal } = {}) =>
      call(own, spec, { call_id: '', name: spec.name, args }, signal),
    executeWith: async (input, { signal } = {}) => ({
      value: await call(own, spec, input, signal),
      render: null,
    }),
  }));
  const relisting = new Relisting(RELIST_PAUSE_MS);
  const connection = new Connection({
    dial,
    startTimeoutMs: settings.startTimeoutMs,
    restarts: settings.restarts,
    restartWindowMs: settings.restartWindowMs,
    now: () => performance.now(),
    onStart: async (session) => {
      tools.update(await listTools(session));
    },
    onListChanged: (session) => {
      relisting.ask(async () => {
        const slow = after(settings.startTimeoutMs, () => new Error('no answer in time'));
        const offered = await listTools(session, [slow]);
        if (session.ended === null) tools.update(offered);
      });
    },
  });
  const close = async (): Promise<void> => {
    tools.close();
    relisting.close();
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

/** Progress is asked of a server only when somebody hears of it. */
function progressOf(
  options: McpToolsOptions,
  tool: string,
  callId: string,
): Pick<RequestExtras, 'onProgress'> {
  if (options.onProgress === undefined) return {};
  return {
    onProgress: ({ progress, total, message }) => {
      const told: McpProgress = {
        tool,
        callId,
        progress,
        ...(total === undefined ? {} : { total }),
        ...(message === undefined ? {} : { message }),
      };
      try {
        options.onProgress?.(told);
      } catch {
        // Its own matter; the call goes on.
      }
    },
  };
}
