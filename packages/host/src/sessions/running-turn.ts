import type {
  InjectionSource,
  PendingInjection,
  SessionEvent,
  TurnOutcomePhase,
} from '@celestea/core';

import type { WireReply } from '../wire.ts';
import type { TurnMeter } from './turn-meter.ts';

/** A turn of a live session, from before it starts until its promise has settled. */
export interface RunningTurn {
  readonly id: string;
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

/** What was sent to a turn that runs, until the turn takes it. */
export class SteeringLines implements InjectionSource {
  #lines: string[] = [];
  readonly #onTaken: (lines: readonly string[]) => void;

  /** `onTaken` is told what the turn took, once it did. */
  constructor(onTaken: (lines: readonly string[]) => void) {
    this.#onTaken = onTaken;
  }

  push(input: string): void {
    this.#lines.push(input);
  }

  drain(): readonly PendingInjection[] {
    const lines = this.takeBack();
    if (lines.length > 0) this.#onTaken(lines);
    return lines.map((text) => ({ text, from: '' }));
  }

  pending(): number {
    return this.#lines.length;
  }

  /** What the turn has not taken yet, in order. */
  waiting(): readonly string[] {
    return [...this.#lines];
  }

  /** What no turn took; nobody gets it afterwards. */
  takeBack(): readonly string[] {
    return this.#lines.splice(0);
  }
}

/**
 * Follows a reply from its events to its rows. Thinking is written burst by burst, text when the
 * reply is whole. The text of a reply that broke off is never written: the turn ends with it.
 */
export class StreamedReply implements WireReply {
  text = '';
  thinking = '';

  /** To be told of every row right after it was written. */
  onRow({ type }: SessionEvent): void {
    switch (type) {
      case 'thinking_delta':
        this.thinking = '';
        return;
      case 'assistant_message':
      case 'tool_call': // of a reply whose text came to nothing
      case 'turn_end':
        this.thinking = '';
        this.text = '';
        return;
      case 'turn_start':
      case 'user_message':
      case 'tool_result':
        return;
      default:
        return type satisfies never;
    }
  }
}
