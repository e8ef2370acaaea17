import {
  messageTexts,
  serdeJsonBytes,
  utf8Length,
  type Content,
  type Message,
} from '@celestea/core';

import { TRIMMED_MARKER_PREFIX } from './context-trim.ts';
import { hasCalls } from './priced-history.ts';
import { remembered } from './remembered.ts';

/** No text is cut to fewer bytes than this, its notice not counted. */
export const MIN_TEXT_BYTES = 128;
/** What the notice inside a cut text takes, at most. */
export const NOTICE_BYTES = 96;
export const BYTES_PER_TOKEN = 4;

/** Tokens that cutting the texts of a message to `least` bytes each saves, at least. */
export function giveableTokens(message: Message, least: number): number {
  let tokens = 0;
  for (const bytes of textBytes(message)) {
    tokens += Math.max(0, Math.floor((bytes - least - NOTICE_BYTES) / BYTES_PER_TOKEN));
  }
  return tokens;
}

/** UTF-8 bytes of each text of a message that may be cut. */
const textBytes = remembered((message) =>
  message.role === 'system' ? [] : messageTexts(message).map(utf8Length),
);

/** A tool's answer as a one-line notice. */
export const withoutResult: (message: Message) => Message = remembered(leaveOutResult);
const withArgumentNotices = remembered(leaveOutArguments);

/** Calls with their arguments replaced by a notice; calls a provider signed stay verbatim. */
export const withoutArguments = (message: Message): Message =>
  hasCalls(message) ? withArgumentNotices(message) : message;

/** Ours, by its form: a tool's own words may start like a notice. */
const isNotice = (text: string): boolean => RESULT_NOTICE.test(text);

const RESULT_NOTICE = /^\[context-trimmed\] result of \d+ bytes left out to fit$/;

function leaveOutResult(message: Message): Message {
  const texts = messageTexts(message);
  if (texts.every(isNotice)) return message;
  const bytes = utf8Length(texts.join(''));
  const notice = `${TRIMMED_MARKER_PREFIX} result of ${String(bytes)} bytes left out to fit`;
  const others = message.content.filter((block) => block.type !== 'text');
  return { ...message, content: [{ type: 'text', content: notice }, ...others] };
}

function leaveOutArguments(message: Message): Message {
  const content = message.content.map((block): Content => {
    if (block.type !== 'tool_call' || block.content.meta !== undefined) return block;
    const bytes = serdeJsonBytes(block.content.args);
    const notice = `${TRIMMED_MARKER_PREFIX} arguments of ${String(bytes)} bytes left out to fit`;
    const args = { notice };
    if (bytes <= serdeJsonBytes(args)) return block;
    return { type: 'tool_call', content: { ...block.content, args } };
  });
  return { ...message, content };
}
