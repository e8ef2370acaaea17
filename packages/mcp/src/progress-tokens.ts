import type { ProgressCallback } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { ProgressNotificationParams } from '@modelcontextprotocol/sdk/types.js';

/**
 * Who follows which call. In place of the SDK's own book-keeping, which hands progress on a
 * microtask later and has forgotten the call by then when its answer came in the same piece:
 * the last step of every call would be lost.
 */
export class ProgressTokens {
  readonly #listeners = new Map<string | number, ProgressCallback>();
  #last = 0;

  /** Does some work, whose requests carry what is handed to it, and hears of its progress. */
  async follow<T>(
    listener: ProgressCallback,
    work: (meta: { progressToken: number }) => Promise<T>,
  ): Promise<T> {
    const progressToken = (this.#last += 1);
    this.#listeners.set(progressToken, listener);
    try {
      return await work({ progressToken });
    } finally {
      this.#listeners.delete(progressToken);
    }
  }

  /** Hands progress on; that of a call nobody follows any more is dropped. */
  hear({ progressToken, ...progress }: ProgressNotificationParams): void {
    this.#listeners.get(progressToken)?.(progress);
  }
}
