import type { Message } from '@celestea/core';

/**
 * What a function says of a message, asked once: messages are immutable (C1.5), and a log hands
 * back the same ones. It is forgotten with the message.
 */
export function remembered<T>(of: (message: Message) => T): (message: Message) => T {
  const known = new WeakMap<Message, T>();
  return (message) => {
    const former = known.get(message);
    if (former !== undefined) return former;
    const found = of(message);
    known.set(message, found);
    return found;
  };
}
