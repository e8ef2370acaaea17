/** What an {@link interruptHandler} acts on. */
export interface InterruptActions {
  /** Asks the turn to end; called once. */
  readonly cancel: () => void;
  /** Leaves without waiting for anything. */
  readonly forceExit: () => void;
  /** Milliseconds. */
  readonly now: () => number;
}

/**
 * One press of Ctrl-C can arrive several times: the terminal signals every process in the
 * foreground, and pnpm and tsx then pass it on to their children as well.
 */
const SAME_PRESS_MS = 500;

/** What to do on Ctrl-C, SIGINT or SIGTERM: the first press cancels, the second leaves at once. */
export function interruptHandler({ cancel, forceExit, now }: InterruptActions): () => void {
  let pressedAt: number | null = null;
  return () => {
    if (pressedAt === null) {
      pressedAt = now();
      cancel();
    } else if (now() - pressedAt >= SAME_PRESS_MS) {
      forceExit();
    }
  };
}
