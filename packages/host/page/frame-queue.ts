/** A page that nobody sees draws no frames; what came is taken all the same, so often. */
const HIDDEN_MS = 500;

/** Collects what comes, to be taken together. */
export interface FrameQueue<T> {
  push(item: T): void;
}

/** Hands over what was pushed, at most once a frame. */
export function frameQueue<T>(flush: (items: readonly T[]) => void): FrameQueue<T> {
  let waiting: T[] = [];
  let timer: number | undefined;
  const run = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.length === 0) return;
    const items = waiting;
    waiting = [];
    flush(items);
  };
  return {
    push: (item) => {
      waiting.push(item);
      if (timer !== undefined) return;
      timer = setTimeout(run, HIDDEN_MS);
      requestAnimationFrame(run);
    },
  };
}
