import { toolCallIds, type Message } from '@celestea/core';

/** What every provider takes as the id of a call. */
const PLAIN_ID = /^[\w-]{1,64}$/;

/**
 * The id under which each call of a conversation is sent: its own, unless some provider would
 * refuse it. Ids come from logs that other providers' calls stand in.
 */
export function plainCallIds(messages: readonly Message[]): (id: string) => string {
  const ids = new Set(messages.flatMap(toolCallIds));
  const replaced = new Map<string, string>();
  let count = 0;
  for (const id of ids) {
    if (PLAIN_ID.test(id)) continue;
    let plain: string;
    do plain = `call-${String((count += 1))}`;
    while (ids.has(plain));
    replaced.set(id, plain);
  }
  return (id) => replaced.get(id) ?? id;
}

/** What every provider takes as the name of a tool. */
const PLAIN_NAME = /^[\w-]{1,64}$/;

/**
 * The name under which a call is sent: its own, unless some provider would refuse it. Models
 * make names up, and a call that was answered "there is no such tool" stays in the log for good.
 */
export function plainToolName(name: string): string {
  if (PLAIN_NAME.test(name)) return name;
  return name.replace(/[^\w-]+/g, '_').slice(0, 64) || 'unnamed';
}
