import { expectThat } from '@celestea/core';
import { pino, type DestinationStream, type Logger } from 'pino';

import type { HostEvent, HostStatus } from '../events/index.ts';
import type { HostFault, SeenRequest } from './seen.ts';

/** From all to the least. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** How much a host says of what it does. */
export type HostLogLevel = (typeof LOG_LEVELS)[number];

/**
 * A logger for `HostOptions.log` that writes a line of JSON for each thing that it tells. Throws a
 * `TypeError` for another level.
 *
 * @example createHost({ folder, parts, log: hostLogger(process.stderr, 'info') })
 */
export function hostLogger(stream: DestinationStream, level: HostLogLevel = 'info'): Logger {
  expectThat(LOG_LEVELS.includes(level), 'level', `one of ${LOG_LEVELS.join(', ')}`, level);
  const formatters = { level: (label: string): object => ({ level: label }) };
  return pino({ level, base: null, formatters }, stream);
}

/**
 * Writes what a host does as structured lines. No line holds the token, a header, what a user or
 * the model said, or the arguments and results of tools.
 */
export class HostLines {
  readonly #log: Logger;
  readonly #redact: (text: string) => string;

  /** `redact` takes the token out of a text. */
  constructor(log: Logger, redact: (text: string) => string) {
    this.#log = log;
    this.#redact = redact;
  }

  onEvent(session: string, { name, turn, payload }: HostEvent): void {
    if (name === 'status') this.#onStatus(session, turn, payload);
    else if (name === 'question') {
      this.#log.info({ session, turn, tool: payload.tool }, 'approval asked');
    }
  }

  #onStatus(session: string, turn: string | null, status: HostStatus): void {
    switch (status.phase) {
      case 'start':
        this.#log.info({ session, turn: status.turn }, 'turn started');
        return;
      case 'approval': {
        const { tool, decision } = status;
        this.#log.info({ session, turn, tool, decision }, 'approval answered');
        return;
      }
      case 'diagnostic': // its message may quote anybody
        this.#log.warn({ session, turn, kind: status.kind }, 'diagnostic');
        return;
      case 'progress':
      case 'steer':
      case 'steered':
      case 'lagged':
        return;
      case 'completed':
      case 'cancelled':
      case 'error':
      case 'step_limit':
      case 'interrupted': {
        const { phase: outcome, steps, usage, milliseconds } = status;
        if (usage === undefined) return; // it ended with its process
        const of = { session, turn: status.turn };
        this.#log.info({ ...of, outcome, steps, usage, milliseconds }, 'turn ended');
        return;
      }
      default:
        status satisfies never;
    }
  }

  onRequest({ route, method, status, milliseconds }: SeenRequest): void {
    this.#log.debug({ route, method, status, milliseconds }, 'request');
  }

  onLag(session: string): void {
    this.#log.warn({ session }, 'reader lagged');
  }

  onFault(error: unknown, { method, path: route }: HostFault): void {
    // not as err: of that pino makes what it wants
    this.#log.error({ route, method, fault: this.#faultOf(error) }, 'fault');
  }

  /** An error and its causes by name, message and stack; whatever else is in there is left out. */
  #faultOf(error: unknown, depth = 0): Record<string, unknown> {
    if (!(error instanceof Error)) return { type: typeof error };
    const { name, message, stack = '', cause } = error;
    const isCaused = cause !== undefined && depth < MAX_CAUSES;
    return {
      type: name,
      message: this.#redact(message),
      stack: this.#redact(stack),
      ...(isCaused ? { cause: this.#faultOf(cause, depth + 1) } : {}),
    };
  }
}

const MAX_CAUSES = 5;
