import type { ModelFailureKind } from './model.ts';

/** Why a turn failed. */
export interface TurnError {
  kind: ModelFailureKind;
  message: string;
}

/** How a turn ended. A closed union: only `completed` is a success. */
export type TurnOutcome =
  | 'completed'
  | 'cancelled'
  | { error: TurnError }
  | 'step_limit'
  | 'interrupted';

/** The five ways a turn ends, as flat labels. */
export const TURN_OUTCOMES = [
  'completed',
  'cancelled',
  'error',
  'step_limit',
  'interrupted',
] as const;

/** One of {@link TURN_OUTCOMES}. */
export type TurnOutcomePhase = (typeof TURN_OUTCOMES)[number];

/** The outcome of a `turn_end` row: a row without one reads as `completed`. */
export function effectiveOutcome(outcome: TurnOutcome | undefined): TurnOutcome {
  return outcome ?? 'completed';
}

/** The flat label of an outcome. */
export function outcomePhase(outcome: TurnOutcome): TurnOutcomePhase {
  return typeof outcome === 'string' ? outcome : 'error';
}

/** The kind and message of a failed outcome, or `null` for the other four. */
export function outcomeErrorParts(outcome: TurnOutcome): TurnError | null {
  if (typeof outcome === 'string') return null;
  return { kind: outcome.error.kind, message: outcome.error.message };
}

/** `"kind: message"` of a failed outcome, or `null` for the other four. */
export function outcomeError(outcome: TurnOutcome): string | null {
  const parts = outcomeErrorParts(outcome);
  return parts === null ? null : `${parts.kind}: ${parts.message}`;
}

/** Whether a value read from outside has the shape of a {@link TurnOutcome}. */
export function isTurnOutcome(value: unknown): value is TurnOutcome {
  if (typeof value === 'string') return value !== 'error' && TURN_OUTCOMES.some((one) => one === value);
  if (typeof value !== 'object' || value === null || !('error' in value)) return false;
  const { error } = value;
  return (
    typeof error === 'object' &&
    error !== null &&
    'kind' in error &&
    (error.kind === 'generate' || error.kind === 'stream') &&
    'message' in error &&
    typeof error.message === 'string'
  );
}
