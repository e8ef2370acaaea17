import { hasToolCalls, type Message } from '@celestea/core';

import {
  estimateMessageTokens,
  messageEstimator,
  priceOf,
  type MessageEstimator,
} from './tokens.ts';

/**
 * A call or a result, and the message it stands in, keeps so many tokens or all it had, whatever
 * is left out of it: four for the message, and a notice of 51 bytes or more.
 */
const LEAST_TOKENS = 17;

export const hasCalls = (message: Message): boolean =>
  message.role === 'assistant' && hasToolCalls(message);

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
  /** `before[i]` is the price of `rest` before `i`; one longer than `rest`. */
  readonly before: number[] = [0];
  /** Where in `rest` the messages of users are. */
  readonly users: number[] = [];
  /** Where groups start: messages with calls, with their results after them. */
  readonly groups: number[] = [];
  /** Where messages are that are in no group. */
  readonly outside: number[] = [];
  /** `least[i]` is what the groups before `i` keep when all is left out of them that can be. */
  readonly least: number[] = [0];
  #inGroup = false;
  readonly #estimate: MessageEstimator;
  readonly #known: Message[] = [];

  constructor(estimate: MessageEstimator) {
    this.#estimate = estimate === estimateMessageTokens ? priceOf : estimate;
  }

  /** Whether these messages are those that are known, and any number of new ones. */
  precedes(messages: readonly Message[]): boolean {
    let index = this.#known.length; // a loop: ten thousand calls back would cost ten times as much
    // `===` would fetch every message from memory to see what it is, `Object.is` only compares
    while (index > 0 && Object.is(this.#known[index - 1], messages[index - 1])) index -= 1;
    return index === 0;
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
    const index = this.rest.length;
    if (message.role === 'user') this.users.push(index);
    if (message.role !== 'tool') {
      this.#inGroup = hasCalls(message);
      if (this.#inGroup) this.groups.push(index);
    }
    if (!this.#inGroup) this.outside.push(index);
    const least = this.#inGroup ? Math.min(price, LEAST_TOKENS) : 0;
    this.least.push((this.least[index] ?? 0) + least);
    this.before.push((this.before[index] ?? 0) + price);
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
