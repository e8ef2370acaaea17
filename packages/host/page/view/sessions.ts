import { useCallback, useEffect, useState } from 'preact/hooks';

import type { WireSession } from '../../src/wire.ts';
import { listSessions } from '../api.ts';

/** How often the list is read anew, in milliseconds, while somebody looks. */
const EVERY_MS = 10_000;

/** The sessions of the host. */
export interface Sessions {
  readonly list: readonly WireSession[];
  readonly isLocked: boolean;
  readonly refresh: () => Promise<void>;
}

/** The list, kept up. */
export function useSessions(): Sessions {
  const [list, setList] = useState<readonly WireSession[]>([]);
  const [isLocked, setLocked] = useState(false);
  const refresh = useCallback(async (): Promise<void> => {
    const reply = await listSessions();
    setLocked(!reply.ok && reply.error.code === 'unauthorized');
    if (!reply.ok) return;
    setList(reply.value.sessions);
  }, []);
  useEffect(() => {
    void refresh();
    const look = (): void => {
      if (!document.hidden) void refresh();
    };
    const timer = setInterval(look, EVERY_MS);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [refresh]);
  return { list, isLocked, refresh };
}
