import type { Logger } from 'pino';

import type { HostEvent } from '../events/host-event.ts';
import { HostLines } from './host-lines.ts';
import { HostMetrics, type HostMetricsOptions } from './host-metrics.ts';
import { seeEvent } from './seen-event.ts';
import type { SeenFault, SeenRequest } from './seen-request.ts';

/** What an {@link Observer} works with. */
export interface ObserverOptions extends HostMetricsOptions {
  /** Without one no line is written. */
  readonly log: Logger | null;
  /** Takes the token out of a text. */
  readonly redact: (text: string) => string;
}

/** Counts what a host does and writes lines of it. No fault of it disturbs anybody. */
export class Observer {
  readonly #metrics: HostMetrics;
  readonly #lines: HostLines | null;

  constructor({ log, redact, ...metrics }: ObserverOptions) {
    this.#metrics = new HostMetrics(metrics);
    this.#lines = log === null ? null : new HostLines(log, redact);
  }

  /** An event of a session was published. */
  onEvent(session: string, event: HostEvent): void {
    quietly(() => {
      const seen = seeEvent(event);
      this.#metrics.onEvent(session, seen);
      this.#lines?.onEvent(session, seen);
    });
  }

  /** A request was answered. */
  onRequest(request: SeenRequest): void {
    quietly(() => {
      this.#metrics.onRequest(request);
      this.#lines?.onRequest(request);
    });
  }

  /** A reader of a session had missed more than is kept. */
  onLag(session: string): void {
    quietly(() => {
      this.#metrics.onLag();
      this.#lines?.onLag(session);
    });
  }

  /** A request was answered with a 500 because of this. */
  onFault(error: unknown, fault: SeenFault): void {
    quietly(() => this.#lines?.onFault(error, fault));
  }

  /** The metrics in the text format of Prometheus, and its type. */
  async metrics(): Promise<{ readonly text: string; readonly type: string }> {
    return { text: await this.#metrics.text(), type: this.#metrics.contentType };
  }
}

function quietly(tell: () => void): void {
  try {
    tell();
  } catch {
    // a logger that fails is its owner's concern
  }
}
