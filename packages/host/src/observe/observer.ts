import type { Logger } from 'pino';

import type { HostEvent } from '../events/index.ts';
import { HostLines } from './host-lines.ts';
import { HostMetrics, type HostMetricsOptions } from './host-metrics.ts';
import type { HostFault, SeenRequest } from './seen.ts';

/** What an {@link Observer} works with. */
interface ObserverOptions extends HostMetricsOptions {
  readonly log: Logger;
  /** Takes the token out of a text. */
  readonly redact: (text: string) => string;
  readonly onFault: (error: unknown, fault: HostFault) => void;
}

/** Counts what a host does and writes lines of it. No fault of it disturbs anybody. */
export class Observer {
  readonly #metrics: HostMetrics;
  readonly #lines: HostLines;
  readonly #onFault: ObserverOptions['onFault'];

  constructor({ log, redact, onFault, ...metrics }: ObserverOptions) {
    this.#metrics = new HostMetrics(metrics);
    this.#lines = new HostLines(log, redact);
    this.#onFault = onFault;
  }

  /** An event of a session was published. */
  onEvent(session: string, event: HostEvent): void {
    quietly(() => {
      this.#metrics.onEvent(session, event);
      this.#lines.onEvent(session, event);
    });
  }

  /** A request was answered. */
  onRequest(request: SeenRequest): void {
    quietly(() => {
      this.#metrics.onRequest(request);
      this.#lines.onRequest(request);
    });
  }

  /** A reader of a session had missed more than is kept. */
  onLag(session: string): void {
    quietly(() => {
      this.#metrics.onLag();
      this.#lines.onLag(session);
    });
  }

  /** A request was answered with a 500 because of this. */
  onFault(error: unknown, fault: HostFault): void {
    quietly(() => {
      this.#lines.onFault(error, fault);
    });
    quietly(() => {
      this.#onFault(error, fault);
    });
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
    // who listens has to look after itself
  }
}
