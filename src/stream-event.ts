import {
  describeValue,
  isRecord,
  STREAM_EVENT_KINDS,
  zeroUsage,
  type StreamEvent,
} from '@celestea/core';

import { errorMessage } from './cancel.ts';

type Check = readonly [field: string, expected: string, fits: (value: unknown) => boolean];

const isText = (value: unknown): boolean => typeof value === 'string';

const isFailureKind = (value: unknown): boolean => value === 'generate' || value === 'stream';

const isUsage = (value: unknown): boolean =>
  isRecord(value) && Object.keys(zeroUsage()).every((counter) => typeof value[counter] === 'number');

/** Call ids are not asked for: a provider that leaves one out still works (X11). */
const isReplyMessage = (value: unknown): boolean =>
  isRecord(value) && Array.isArray(value['content']) && value['content'].every(isReplyBlock);

function isReplyBlock(block: unknown): boolean {
  if (!isRecord(block)) return false;
  const { type, content } = block;
  if (type === 'text') return isText(content);
  return type === 'tool_call' ? isRecord(content) && isText(content['name']) : type === 'image';
}

const TEXT: Check = ['text', 'a string', isText];

const FIELDS: Record<StreamEvent['kind'], readonly Check[]> = {
  text: [TEXT],
  thinking: [TEXT],
  usage: [['usage', 'five counters', isUsage]],
  done: [['message', 'an assistant message', isReplyMessage]],
  failed: [
    ['message', 'a string', isText],
    ['kindOf', 'generate or stream', isFailureKind],
  ],
  interrupted: [],
};

/** What is wrong with an event of a stream; `null` when it can be taken (L2.6). */
export function eventFault(value: unknown): string | null {
  try {
    return shapeFault(value);
  } catch (error) {
    return `malformed stream event: ${errorMessage(error)}`; // a getter of it that throws
  }
}

function shapeFault(event: unknown): string | null {
  if (!isRecord(event)) {
    return `malformed stream event: expected an object, got ${describeValue(event)}`;
  }
  const { kind } = event;
  if (!STREAM_EVENT_KINDS.some((known) => known === kind)) {
    const expected = STREAM_EVENT_KINDS.join(', ');
    return `malformed stream event: kind: expected ${expected}, got ${describeValue(kind)}`;
  }
  for (const [field, expected, fits] of FIELDS[kind as StreamEvent['kind']]) {
    if (fits(event[field])) continue;
    const came = describeValue(event[field]);
    return `malformed ${String(kind)} event: ${field}: expected ${expected}, got ${came}`;
  }
  return null;
}
