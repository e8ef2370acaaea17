import type { TurnOutcomePhase } from '@celestea/core';

import type { SteeringLines } from './steering-lines.ts';
import type { ReplyState, StreamedReply } from './streamed-reply.ts';
import type { TurnMeter } from './turn-meter.ts';

/** A turn of a live session, from before it starts until its promise has settled. */
export interface RunningTurn {
  readonly id: string;
  /** The text that started it. */
  readonly input: string;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
  readonly reply: StreamedReply;
  readonly meter: TurnMeter;
  readonly steering: SteeringLines;
  readonly cancel: AbortController;
  /** Its last event was told; what is told now belongs to no turn. */
  isOver: boolean;
  /** Why it was cancelled, when somebody said. */
  cancelReason: string | null;
  /** Stops what tells of its progress. */
  stopProgress: () => void;
  /** Settles when it is over; never rejects. */
  done: Promise<void>;
}

/** How a turn ended, and what went wrong when something did. */
export interface TurnEnd {
  readonly phase: TurnOutcomePhase;
  readonly error?: string;
}

/** What is told of a turn that runs. */
export interface RunningState {
  /** Its id. */
  readonly turn: string;
  /** The text that started it. */
  readonly input: string;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
  /** Requests made to the model so far. */
  readonly step: number;
  /** What its events told of the model's reply that no row holds yet. */
  readonly reply: ReplyState;
  /** What was said to it that it has not taken yet. */
  readonly waiting: readonly string[];
}
