import type { Message } from '@celestea/core';

import {
  estimateMessageTokens,
  messageEstimator,
  priceOf,
  type MessageEstimator,
} from './tokens.ts';

/**
 * A conversation and what it costs, kept while it grows: the messages that are known cost a
 * comparison each, and only the new ones are priced and summed up (L5.3). Messages are immutable
 * (C1.5), so the same object has the same price.
 */
export class PricedHistory {
  /** System messages, which are sent whatever is cut. */
  readonly system: Message[] = [];
  systemTokens = 0;
  /** All others, in order. */
  readonly rest: Message[] = [];
  /** The price of each of them. */
  readonly tokens: number[] = [];
  /** `before[i]` is the price of `rest` before `i`; one longer than `rest`. */
  readonly before: number[] = [0];
  /** Where in `rest` the messages of users are. */
  readonly users: number[] = [];
  readonly #estimate: MessageEstimator;
  readonly #known: Message[] = [];

  constructor(estimate: MessageEstimator) {
    this.#estimate = estimate === estimateMessageTokens ? priceOf : estimate;
  }

  /** Whether these messages are those that are known, and any number of new ones. */
  precedes(messages: readonly Message[]): boolean {
    const known = this.#known;
    if (known.length > messages.length) return false;
    for (let index = known.length - 1; index >= 0; index -= 1) {
      if (known[index] !== messages[index]) return false;
    }
    return true;
  }

  /** Takes what is new in them. */
  follow(messages: readonly Message[]): void {
    for (let index = this.#known.length; index < messages.length; index += 1) {
      const message = messages[index];
      if (message !== undefined) this.#add(message);
    }
  }

  #add(message: Message): void {
    const price = this.#estimate(message);
    this.#known.push(message);
    if (message.role === 'system') {
      this.system.push(message);
      this.systemTokens += price;
      return;
    }
    if (message.role === 'user') this.users.push(this.rest.length);
    this.before.push((this.before.at(-1) ?? 0) + price);
    this.tokens.push(price);
    this.rest.push(message);
  }
}

/** By their first message, which they keep as long as they grow. */
const histories = new WeakMap<Message, PricedHistory>();

/** These messages, priced by the estimator in force. Another one than ours may change its mind. */
export function pricedHistory(messages: readonly Message[]): PricedHistory {
  const estimate = messageEstimator();
  const first = estimate === estimateMessageTokens ? messages[0] : undefined;
  const known = first === undefined ? undefined : histories.get(first);
  const history = known?.precedes(messages) === true ? known : new PricedHistory(estimate);
  history.follow(messages);
  if (first !== undefined) histories.set(first, history);
  return history;
}
