/** What of the browser's lock manager is needed. */
export interface Locks {
  request(
    name: string,
    options: { readonly ifAvailable: true },
    work: (lock: object | null) => Promise<void>,
  ): Promise<unknown>;
}

/**
 * How many tabs of a browser may hold a stream. A browser opens six connections to a host that
 * speaks HTTP/1.1, for all its tabs; two are left for requests.
 */
const MAX_STREAMS = 4;

/**
 * Takes one of the slots that all tabs of the origin share, and gives what lets go of it; `null`
 * when other tabs hold them all. Slots are locks of the browser, which frees those of a tab that
 * is closed or crashes; no message between tabs could do that. Without locks (`null`, on a page
 * that came over a network without TLS) nothing is counted.
 */
export async function takeStreamSlot(locks: Locks | null): Promise<(() => void) | null> {
  if (locks === null) return () => undefined;
  for (let slot = 1; slot <= MAX_STREAMS; slot += 1) {
    const release = await takeLock(locks, `celestea-stream-${String(slot)}`);
    if (release !== null) return release;
  }
  return null;
}

/** A lock that the browser refuses to speak of counts as one that was taken. */
function takeLock(locks: Locks, name: string): Promise<(() => void) | null> {
  return new Promise((resolve) => {
    const hold = async (lock: object | null): Promise<void> => {
      if (lock === null) resolve(null);
      else {
        await new Promise<void>((release) => {
          resolve(release);
        });
      }
    };
    locks.request(name, { ifAvailable: true }, hold).catch(() => {
      resolve(() => undefined);
    });
  });
}
