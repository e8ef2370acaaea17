import { LlmError, type TimeoutStage } from '@celestea/core';

/**
 * The waits of one request: each ends with what is waited for, with an abort, with its limit,
 * or when it is given up, whichever comes first, whether the provider reacts or not.
 */
export class RequestWait {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  #fail: ((reason: unknown) => void) | null = null;

  constructor(outer: AbortSignal | undefined) {
    this.#outer = outer;
    if (outer?.aborted === true) this.#abort();
    else outer?.addEventListener('abort', this.#abort, { once: true });
  }

  /** What the provider is given: aborts with the caller's, and when a limit runs out. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What a request ends with that failed so: the caller's reason when the caller aborted. */
  reasonFor(failure: unknown, classify: (error: unknown) => LlmError): unknown {
    return this.#outer?.aborted === true ? this.#outer.reason : classify(failure);
  }

  /** @param limitMs milliseconds; 0 waits for ever */
  async for<T>(work: PromiseLike<T>, stage: TimeoutStage, limitMs: number): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#fail = reject;
        work.then(resolve, reject);
        if (this.signal.aborted) this.#fail(this.signal.reason);
        else if (limitMs > 0) timer = setTimeout(this.#giveUp, limitMs, stage, limitMs);
      });
    } finally {
      clearTimeout(timer);
      this.#fail = null;
    }
  }

  /** Ends the request: nothing of it is left behind. */
  stop(reason: unknown): void {
    this.release();
    this.#end(reason);
  }

  /** Lets the caller's signal go; the request may end by itself. */
  release(): void {
    this.#outer?.removeEventListener('abort', this.#abort);
  }

  readonly #abort = (): void => {
    this.#end(this.#outer?.reason);
  };

  readonly #giveUp = (stage: TimeoutStage, limitMs: number): void => {
    const missing = stage === 'response' ? 'did not answer' : 'sent nothing';
    const message = `the provider ${missing} for ${String(limitMs)} ms`;
    this.#end(new LlmError(message, 'timeout', { timeoutStage: stage, retryable: true }));
  };

  #end(reason: unknown): void {
    this.#controller.abort(reason);
    this.#fail?.(reason);
  }
}
