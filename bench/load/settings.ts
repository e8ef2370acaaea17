import type { TurnFate, TurnPlan } from './plan.ts';

/** A load test: how many, how much and how fast. */
export interface LoadSettings {
  /** Sessions, each with one turn at a time and one reader. */
  readonly turns: number;
  /** Of them have a reader; at most `turns`. */
  readonly readers: number;
  /** Of the readers stop reading; at most `readers`. */
  readonly stalled: number;
  /** Whether the same turns run first without any reader that stalls. */
  readonly compares: boolean;
  readonly readerProcesses: number;
  /** Between two deltas, in milliseconds. */
  readonly paceMs: number;
  /** What a tool takes, in milliseconds. */
  readonly toolMs: number;
  /** At least 6: what a stalled session tells in one frame is to fit into that chunk. */
  readonly steps: number;
  /** Deltas a step. */
  readonly pieces: number;
  readonly calls: number;
  /** UTF-16 units a delta, about. */
  readonly pieceLength: number;
}

/** Of each session so many bytes are kept for readers that come back. */
export const RING_BYTES: number = 1024 * 1024;
/** No chunk of such a turn is larger: one is in flight to a reader that does not read. */
export const QUEUED_BYTES: number = 1024 * 1024;

/**
 * What a session with a stalled reader tells, in bytes: a system takes about 4 MiB for a socket
 * that nobody reads, and the rest has to be more than the ring keeps.
 */
const WIDE_BYTES = 10 * 1024 * 1024;
/** Of a UTF-16 unit of a delta: it is told once by itself and once in the whole reply. */
const WIDE_BYTES_PER_UNIT = 2 * 1.5;

/** The first `stalled` sessions have a reader that stalls, or would, and tell more than others. */
export function firstWave(settings: LoadSettings, wave: number): TurnPlan[] {
  const { steps, pieces, pieceLength, stalled } = settings;
  const widePiece = Math.ceil(WIDE_BYTES / WIDE_BYTES_PER_UNIT / steps / pieces);
  return plansOf(settings, wave, (index) => ({
    pieceLength: index < stalled ? widePiece : pieceLength,
  }));
}

const FATES: readonly TurnFate[] = [
  'goes on',
  'completes',
  'stops in the model',
  'stops in a tool',
];

/** Turns in the middle of which the server dies, and some that are over by then. */
export function doomedWave(settings: LoadSettings, wave: number): TurnPlan[] {
  return plansOf(settings, wave, (index) => ({ fate: FATES[index % FATES.length] ?? 'completes' }));
}

/** Short turns of the first sessions. */
export function shortWave(settings: LoadSettings, wave: number, count = settings.turns): TurnPlan[] {
  const plans = plansOf(settings, wave, () => ({ steps: 2, together: count }));
  return plans.slice(0, count);
}

function plansOf(
  { turns, steps, pieces, pieceLength, calls }: LoadSettings,
  wave: number,
  special: (index: number) => Partial<TurnPlan>,
): TurnPlan[] {
  return Array.from({ length: turns }, (_, index) => ({
    wave,
    index,
    together: turns,
    steps,
    pieces,
    pieceLength,
    calls,
    fate: 'completes',
    ...special(index),
  }));
}
