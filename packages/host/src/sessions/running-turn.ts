import type { SteeringLines } from './steering-lines.ts';
import type { TurnMeter } from './turn-meter.ts';

/** A turn of a live session, from before it starts until its promise has settled. */
export interface RunningTurn {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
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

/** What is told of a turn that runs. */
export interface RunningState {
  /** Its id. */
  readonly turn: string;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
  /** Requests made to the model so far. */
  readonly step: number;
}
