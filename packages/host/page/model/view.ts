import type { TurnOutcomePhase, Usage } from '@celestea/core';

import type { HostEvent } from '../../src/events/host-event.ts';
import type { WireApproval, WireReply } from '../../src/wire.ts';

/** An event of the stream, out of its envelope. */
export type EventAction = HostEvent & {
  readonly type: 'event';
  readonly session: string;
  readonly seq: number;
  /** When it came, in milliseconds since 1970. */
  readonly now: number;
};

/** How a turn ended. */
export interface TurnEnd {
  readonly kind: TurnOutcomePhase;
  /** What went wrong; `null` unless the kind is `error`. */
  readonly error: string | null;
  /** Why it was cancelled, when somebody said and this page was told. */
  readonly reason: string | null;
}

/** Something the user said: the first one opens the turn, later ones steered it. */
interface UserItem {
  readonly kind: 'user';
  readonly key: string;
  readonly text: string;
  readonly pictures: number;
}

/** What the model thought in one step. */
export interface ReasoningItem {
  readonly kind: 'reasoning';
  readonly key: string;
  readonly text: string;
}

/** What the model said in one step. */
export interface ReplyItem {
  readonly kind: 'reply';
  readonly key: string;
  readonly text: string;
  /** It broke off, is in no log, and the model will not see it again. */
  readonly isPartial: boolean;
}

/** What came of a call. */
export interface CallResult {
  readonly ok: boolean;
  readonly value: unknown;
  readonly error: string | null;
  /** For people; `null` when the tool gave none, or when it is read from the log. */
  readonly render: string | null;
  readonly isDenied: boolean;
  readonly isAbandoned: boolean;
}

/** A call of a tool. */
export interface CallItem {
  readonly kind: 'call';
  readonly key: string;
  readonly id: string;
  /** Empty as long as the row of the call itself is on a page that is not loaded. */
  readonly name: string;
  readonly args: unknown;
  readonly result: CallResult | null;
  /** By the clock of this page, in milliseconds; `null` when it was not watched. */
  readonly startedMs: number | null;
  readonly endedMs: number | null;
}

/** Something the host said about the turn. */
interface NoticeItem {
  readonly kind: 'notice';
  readonly key: string;
  readonly text: string;
}

/** What a turn consists of, in its order. */
export type Item = UserItem | ReasoningItem | ReplyItem | CallItem | NoticeItem;

/** A call in a step, by the clock of this page. */
export interface StepCall {
  readonly id: string;
  readonly name: string;
  readonly startedMs: number;
  readonly endedMs: number | null;
  readonly isOk: boolean | null;
}

/** One request to the model and the calls its reply made, by the clock of this page. */
export interface Step {
  readonly startedMs: number;
  /** When the first piece of the reply came. */
  readonly firstMs: number | null;
  /** When the reply was complete. */
  readonly repliedMs: number | null;
  readonly calls: readonly StepCall[];
  /** Ids of the calls that the reply announced and that have no result yet. */
  readonly open: readonly string[];
}

/** A turn, as it is shown. */
export interface TurnView {
  /** The id of the turn; of rows that belong to none, one that no turn has. */
  readonly id: string;
  readonly items: readonly Item[];
  /** What of a reply has come so far. */
  readonly draft: WireReply | null;
  readonly end: TurnEnd | null;
  /** Only those that were watched. */
  readonly steps: readonly Step[];
  /** The number of the first of them. */
  readonly firstStep: number;
  /** Requests made to the model; `null` when this page was not told. */
  readonly stepCount: number | null;
  readonly milliseconds: number | null;
  readonly tokens: Usage | null;
}

/** The turn that runs. */
interface RunningView {
  readonly turn: string;
  readonly startedMs: number;
  readonly step: number;
  readonly deltasPerSecond: number | null;
}

/** How much of the window the last request took, in tokens; estimates. */
export interface ContextView {
  readonly used: number;
  /** 0 when the window is not known. */
  readonly window: number;
}

/** The stream of events. */
export type Connection = 'closed' | 'connecting' | 'open' | 'polling' | 'lost' | 'locked' | 'missing';

/** A text with a number that tells it from an equal one before it. */
interface Numbered<T> {
  readonly number: number;
  readonly value: T;
}

/** Lines that a turn left when it ended. */
export interface Undelivered {
  readonly turn: string;
  readonly lines: readonly string[];
}

/** All that is shown of a session. */
export interface Conversation {
  readonly session: string | null;
  readonly turns: readonly TurnView[];
  readonly running: RunningView | null;
  /** The `before` of the next older page; `null` when the beginning is there. */
  readonly previous: number | null;
  /** The seq of the last event that counted. */
  readonly lastSeq: number;
  /** Questions that are open, oldest first. */
  readonly approvals: readonly WireApproval[];
  /** Steering lines that the turn has not taken yet. */
  readonly waiting: readonly string[];
  /** Steering lines that a turn did not take: they go back to whoever wrote them. */
  readonly undelivered: Numbered<Undelivered>;
  readonly totalTokens: Usage | null;
  readonly context: ContextView | null;
  readonly connection: Connection;
  /** What a screen reader is to say. */
  readonly announcement: Numbered<string>;
}

/** Nothing is open. */
export const EMPTY_CONVERSATION: Conversation = {
  session: null,
  turns: [],
  running: null,
  previous: null,
  lastSeq: -1,
  approvals: [],
  waiting: [],
  undelivered: { number: 0, value: { turn: '', lines: [] } },
  totalTokens: null,
  context: null,
  connection: 'closed',
  announcement: { number: 0, value: '' },
};

/** A turn of which nothing is known yet. */
export function emptyTurn(id: string): TurnView {
  return {
    id,
    items: [],
    draft: null,
    end: null,
    steps: [],
    firstStep: 1,
    stepCount: null,
    milliseconds: null,
    tokens: null,
  };
}

/** Gives a screen reader something to say. */
export function announced(state: Conversation, value: string): Conversation {
  return { ...state, announcement: { number: state.announcement.number + 1, value } };
}
