/** What the plain implementation trims: texts with a role. */
export interface PlainMessage {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly text: string;
  readonly args?: unknown;
}

/**
 * What one writes in an afternoon: price every message, add up from the end, and cut at the
 * first user's message from which on everything fits. Two passes, nothing remembered.
 */
export function plainTrim(messages: readonly PlainMessage[], budget: number): PlainMessage[] {
  const suffix = new Float64Array(messages.length + 1);
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const message = messages[index];
    suffix[index] = (suffix[index + 1] ?? 0) + (message === undefined ? 0 : priceOf(message));
  }
  for (let start = 0; start < messages.length; start += 1) {
    if (messages[start]?.role === 'user' && (suffix[start] ?? 0) <= budget) {
      return messages.slice(start);
    }
  }
  return messages.slice();
}

export function priceOf({ text, args }: PlainMessage): number {
  const bytes = Buffer.byteLength(text);
  const more = args === undefined ? 0 : Buffer.byteLength(JSON.stringify(args)) + 40;
  return 4 + Math.ceil((bytes + more) / 4);
}
