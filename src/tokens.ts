import { serdeJsonBytes, utf8Length, type Content, type Message } from '@celestea/core';

import { remembered } from './remembered.ts';

/** Prices one message in tokens. */
export type MessageEstimator = (message: Message) => number;

/** Tokens of a picture of no size (L5.2). */
export const IMAGE_BASE_TOKENS = 85;
/** Pixels that cost one token more (L5.2). */
export const IMAGE_PIXEL_DIVISOR = 750;

const MESSAGE_TOKENS = 4;
const CALL_TOKENS = 10;
const BYTES_PER_TOKEN = 4;

/**
 * Tokens of a text: a quarter of its UTF-8 bytes, rounded up. An estimate that decides when
 * to trim, never what is billed (L5.2).
 */
export function estimateTokens(text: string): number {
  return Math.ceil(utf8Length(text) / BYTES_PER_TOKEN);
}

/** Tokens of a picture; a side that is not finite or not positive counts 0. Sides in pixels. */
export function estimateImageTokens(width: number, height: number): number {
  return IMAGE_BASE_TOKENS + Math.ceil((side(width) * side(height)) / IMAGE_PIXEL_DIVISOR);
}

const side = (pixels: number): number => (Number.isFinite(pixels) && pixels > 0 ? pixels : 0);

function estimateBlockTokens(block: Content): number {
  switch (block.type) {
    case 'text':
      return estimateTokens(block.content);
    case 'tool_call': {
      const { name, args, meta } = block.content;
      return CALL_TOKENS + estimateTokens(name) + jsonTokens(args) + metaTokens(meta);
    }
    case 'image':
      return estimateImageTokens(block.content.width, block.content.height);
    case 'thinking':
      return estimateTokens(block.content.text) + metaTokens(block.content.meta);
    default:
      return block satisfies never;
  }
}

const jsonTokens = (value: unknown): number => Math.ceil(serdeJsonBytes(value) / BYTES_PER_TOKEN);

const metaTokens = (meta: unknown): number => (meta === undefined ? 0 : jsonTokens(meta));

/** The price of a message, not remembered: for who remembers it anyway. */
export function priceOf(message: Message): number {
  let tokens = MESSAGE_TOKENS;
  for (const block of message.content) tokens += estimateBlockTokens(block);
  if (message.tool_call_id !== null) tokens += estimateTokens(message.tool_call_id);
  return tokens;
}

/** Tokens of a message: its blocks, the id it answers, and a little for the message itself. */
export const estimateMessageTokens: MessageEstimator = remembered(priceOf);

let activeEstimator: MessageEstimator = estimateMessageTokens;

/** The estimator in force: {@link estimateMessageTokens} outside {@link withMessageEstimator}. */
export function messageEstimator(): MessageEstimator {
  return activeEstimator;
}

/**
 * Runs `fn` with another estimator and gives its result; the former one is back afterwards,
 * also when `fn` throws. The scope is the synchronous run of `fn`: what it starts and leaves
 * running is priced by the former estimator again (L5.8).
 */
export function withMessageEstimator<T>(estimate: MessageEstimator, fn: () => T): T {
  const former = activeEstimator;
  activeEstimator = estimate;
  try {
    return fn();
  } finally {
    activeEstimator = former;
  }
}

/** The sum over messages, by the estimator given or else the one in force. */
export function estimateMessagesTokens(
  messages: Iterable<Message>,
  estimate: MessageEstimator = activeEstimator,
): number {
  let tokens = 0;
  for (const message of messages) tokens += estimate(message);
  return tokens;
}
