/** So many streams at a time. */
export class StreamSlots {
  readonly #max: number;
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** How many are taken. */
  get taken(): number {
    return this.#taken;
  }

  /** Takes a slot and gives what lets go of it; `null` when all are taken. */
  take(): (() => void) | null {
    if (this.#taken >= this.#max) return null;
    this.#taken += 1;
    let isTaken = true;
    return () => {
      if (isTaken) this.#taken -= 1;
      isTaken = false;
    };
  }
}

/**
 * The same stream, which tells when it is over: read to its end, broken, cancelled, or left by
 * its reader. `whenGone` tells of the leaving; the function that it gives ends the waiting for it.
 */
export function watchEnd(
  stream: ReadableStream<Uint8Array>,
  whenGone: (tell: () => void) => () => void,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  let forget: () => void = () => undefined;
  const end = (): void => {
    forget();
    onEnd();
  };
  forget = whenGone(() => {
    end();
    reader.cancel().catch(() => undefined); // a read that waits ends
  });
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read();
          if (!done) {
            controller.enqueue(value);
            return;
          }
          end();
          controller.close();
        } catch (error) {
          end();
          throw error;
        }
      },
      cancel: async (reason) => {
        end();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
