import type { ImageRef } from '@celestea/core';

import { isRecord } from '@celestea/core';
import { mismatch } from './text.ts';
import { MAX_TIMER_MS } from './stoppable.ts';

/** How far a call has come, as its server says. */
export interface McpProgress {
  /** The name the tool is registered under. */
  tool: string;
  callId: string;
  progress: number;
  total?: number;
  message?: string;
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
   * Milliseconds until a call is given up and cancelled, whatever progress it reports. Default:
   * none (in place of the 60 seconds of the SDK), the signal alone ends it.
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
export interface McpSettings {
  prefix: string | null;
  callTimeoutMs: number | undefined;
  startTimeoutMs: number;
  restarts: number;
  restartWindowMs: number | null;
  putImage: McpToolsOptions['putImage'];
  onProgress: McpToolsOptions['onProgress'];
}

const START_TIMEOUT_MS = 30_000;

/** Checks the options; a `TypeError` names the one that is wrong. */
export function readOptions(options: McpToolsOptions): McpSettings {
  const given: unknown = options;
  if (!isRecord(given)) fail('options', 'an object', given);
  const { prefix, callTimeoutMs, startTimeoutMs = START_TIMEOUT_MS, restarts = 1 } = options;
  const { putImage, onProgress, restartWindowMs } = options;
  if (prefix !== undefined && (typeof prefix !== 'string' || prefix === '')) {
    fail('prefix', 'a non-empty string', prefix);
  }
  if (callTimeoutMs !== undefined) checkTime('callTimeoutMs', callTimeoutMs);
  checkTime('startTimeoutMs', startTimeoutMs);
  if (!Number.isInteger(restarts) || restarts < 0) {
    fail('restarts', 'a whole number from 0', restarts);
  }
  if (restartWindowMs !== undefined && !(Number.isFinite(restartWindowMs) && restartWindowMs > 0)) {
    fail('restartWindowMs', 'milliseconds above 0', restartWindowMs);
  }
  checkFunction('putImage', putImage);
  checkFunction('onProgress', onProgress);
  return {
    prefix: prefix ?? null,
    callTimeoutMs,
    startTimeoutMs,
    restarts,
    restartWindowMs: restartWindowMs ?? null,
    putImage,
    onProgress,
  };
}

function checkTime(name: string, ms: unknown): void {
  if (typeof ms === 'number' && ms > 0 && ms <= MAX_TIMER_MS) return;
  fail(name, `milliseconds above 0 and up to ${String(MAX_TIMER_MS)}`, ms);
}

function checkFunction(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function') {
    fail(name, 'a function or nothing', value);
  }
}

function fail(name: string, expected: string, value: unknown): never {
  throw new TypeError(`mcpTools: ${mismatch(name, expected, value)}`);
}
