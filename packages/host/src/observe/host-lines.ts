import type { Logger } from 'pino';

import type { SeenEvent } from './seen-event.ts';
import type { SeenFault, SeenRequest } from './seen-request.ts';

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

  onEvent(session: string, event: SeenEvent): void {
    switch (event.kind) {
      case 'turn_started':
        this.#log.info({ session, turn: event.turn }, 'turn started');
        return;
      case 'turn_ended': {
        const { turn, outcome, steps, usage, milliseconds } = event;
        this.#log.info({ session, turn, outcome, steps, usage, milliseconds }, 'turn ended');
        return;
      }
      case 'approval_asked':
        this.#log.info({ session, turn: event.turn, tool: event.tool }, 'approval asked');
        return;
      case 'approval_answered': {
        const { turn, tool, decision } = event;
        this.#log.info({ session, turn, tool, decision }, 'approval answered');
        return;
      }
      case 'diagnostic': // its message may quote anybody
        this.#log.warn({ session, turn: event.turn, kind: event.of }, 'diagnostic');
        return;
      case 'tool_called':
      case 'tool_answered':
      case 'other':
        return;
      default:
        event satisfies never;
    }
  }

  onRequest({ route, method, status, milliseconds }: SeenRequest): void {
    this.#log.debug({ route, method, status, milliseconds }, 'request');
  }

  onLag(session: string): void {
    this.#log.warn({ session }, 'reader lagged');
  }

  onFault(error: unknown, { route, method }: SeenFault): void {
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
