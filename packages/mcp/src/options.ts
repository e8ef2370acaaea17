import { expectThat, isRecord, type ImageRef } from '@celestea/core';

import { MAX_TIMER_MS } from './stoppable.ts';

/** How far a call has come, as its server says. */
export interface McpProgress {
  /** The name the tool is registered under. */
  tool: string;
  callId: string;
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}

/** How the tools of a server are taken over. */
export interface McpToolsOptions {
  /** Put in front of every name: `files` makes `files_read` of `read`. */
  prefix?: string;
  /**
   * Keeps a picture and gives the reference under which the model is shown it; `null` when it
   * does not want it. Without it, or when it fails, the model reads a note in its place.
   */
  putImage?: (bytes: Uint8Array, mediaType: string) => Promise<ImageRef | null>;
  /** Hears of the progress of calls. What it throws is dropped. */
  onProgress?: (progress: McpProgress) => void;
  /**
   * Milliseconds without an answer or a word of progress until a call is given up and cancelled.
   * Default 60 000; 0 for none, so that the signal alone ends it.
   */
  callTimeoutMs?: number;
  /** Milliseconds for a server to start, to say its name and to list its tools. Default 30 000. */
  startTimeoutMs?: number;
  /**
   * How often a server that died is started again, on the next call: in all, or within
   * `restartWindowMs`. Default 1.
   */
  restarts?: number;
  /**
   * Milliseconds after which a restart no longer counts, for a program that runs for days. Default:
   * none, each of them counts for as long as the tools are there.
   */
  restartWindowMs?: number;
}

/** The options with their defaults. */
export type McpSettings = McpToolsOptions &
  Required<Pick<McpToolsOptions, 'callTimeoutMs' | 'startTimeoutMs' | 'restarts'>>;

/** Checks the options; a `TypeError` names the one that is wrong. */
export function readOptions(options: McpToolsOptions): McpSettings {
  const given: unknown = options;
  check(isRecord(given), 'options', 'an object', given);
  const { callTimeoutMs = 60_000, startTimeoutMs = 30_000, restarts = 1 } = options;
  const { prefix = 'none', restartWindowMs = 1, putImage, onProgress } = options;
  check(typeof prefix === 'string' && prefix !== '', 'prefix', 'a non-empty string', prefix);
  checkTime('callTimeoutMs', callTimeoutMs, 0);
  checkTime('startTimeoutMs', startTimeoutMs, 1);
  check(Number.isInteger(restarts) && restarts >= 0, 'restarts', 'a whole number from 0', restarts);
  const isTime = Number.isFinite(restartWindowMs) && restartWindowMs > 0;
  check(isTime, 'restartWindowMs', 'milliseconds above 0', restartWindowMs);
  for (const [name, hook] of Object.entries({ putImage, onProgress })) {
    check(hook === undefined || typeof hook === 'function', name, 'a function or nothing', hook);
  }
  return { ...options, callTimeoutMs, startTimeoutMs, restarts };
}

function checkTime(name: string, ms: unknown, least: number): void {
  const fits = typeof ms === 'number' && ms >= least && ms <= MAX_TIMER_MS;
  check(fits, name, `milliseconds from ${String(least)} to ${String(MAX_TIMER_MS)}`, ms);
}

/** Refuses what was handed to `mcpTools` with a `TypeError` that names it. */
export function check(
  fits: boolean,
  name: string,
  expected: string,
  came: unknown,
): asserts fits {
  expectThat(fits, `mcpTools: ${name}`, expected, came);
}
