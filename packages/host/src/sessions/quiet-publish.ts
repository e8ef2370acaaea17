import type { Publish } from '../events/host-event.ts';

/** The same, kept to its word that it never throws: nobody who listens disturbs a turn. */
export function quietly(publish: Publish): Publish {
  return (event) => {
    try {
      publish(event);
    } catch {
      // who listens has to look after itself
    }
  };
}
