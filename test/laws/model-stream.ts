/** What one reply comes to, by the table of its items (L3.1 to L3.7). */
import type { ModelFailureKind } from '@celestea/core';

import type { CallPlan, ReplyPlan, StreamItem } from './worlds.ts';

/** How a stream ended; `hangs` ends by a cancel alone. */
export type StreamEnd = 'end' | 'interrupted' | 'hangs' | ModelFailureKind;

export interface Reading {
  /** Rows of reasoning, each as its text and what signs it. */
  readonly thoughts: string[];
  /** The burst that is not a row yet. */
  burst: string;
  readonly texts: string[];
  readonly calls: CallPlan[];
  /** Whether each `done` said that the length limit was reached. */
  readonly cutOff: boolean[];
  finished: boolean;
  waited: number;
  readonly posts: string[];
  end: StreamEnd | null;
}

type ItemOf<Kind extends StreamItem['kind']> = Extract<StreamItem, { kind: Kind }>;

function closeBurst(reading: Reading, meta: string | null = null): void {
  if (reading.burst === '' && meta === null) return;
  reading.thoughts.push(`think:${reading.burst.toWellFormed()}|${meta ?? ''}`);
  reading.burst = '';
}

function finish(reading: Reading, end: StreamEnd): void {
  closeBurst(reading);
  reading.end = end;
}

/** What each kind of item does to a reading. */
const TABLE: {
  readonly [Kind in StreamItem['kind']]: (
    reading: Reading,
    item: ItemOf<Kind>,
    idleMs: number,
  ) => void;
} = {
  text: (reading) => {
    closeBurst(reading);
  },
  thinking: (reading, { text, meta }) => {
    reading.burst += text;
    if (meta !== null) closeBurst(reading, meta);
  },
  usage: () => undefined,
  done: (reading, { texts, calls, finish: why }) => {
    closeBurst(reading);
    reading.finished = true;
    reading.texts.push(...texts);
    reading.calls.push(...calls);
    reading.cutOff.push(why === 'length');
  },
  failed: (reading, { kindOf }) => {
    finish(reading, kindOf);
  },
  interrupted: (reading) => {
    finish(reading, 'interrupted');
  },
  throw: (reading) => {
    finish(reading, 'stream');
  },
  malformed: (reading) => {
    finish(reading, 'stream');
  },
  post: (reading, { text }) => {
    reading.posts.push(text);
  },
  wait: (reading, { pace }, idleMs) => {
    const ms = pace === 'never' ? Infinity : typeof pace === 'number' ? pace : 0;
    reading.waited += ms;
    if (idleMs > 0 && reading.waited > idleMs) finish(reading, 'stream');
    else if (ms === Infinity) finish(reading, 'hangs');
  },
};

/** These go on with the wait for the next event. */
const SILENT: readonly StreamItem['kind'][] = ['wait', 'post'];

export function readReply(plan: ReplyPlan, idleMs: number, waited: number): Reading {
  const reading: Reading = {
    ...{ thoughts: [], burst: '', texts: [], calls: [], cutOff: [], finished: false },
    ...{ waited, posts: [], end: null },
  };
  for (const item of plan.items) {
    // The table has the function of the item's own kind.
    const step = TABLE[item.kind] as (of: Reading, item: StreamItem, idleMs: number) => void;
    step(reading, item, idleMs);
    if (reading.end !== null) return reading;
    if (!SILENT.includes(item.kind)) reading.waited = 0;
  }
  finish(reading, 'end');
  return reading;
}
