import { isRecord, zeroUsage, type TurnOutcomePhase, type Usage } from '@celestea/core';

import type { HostEvent } from '../events/host-event.ts';

/** What a turn came to. */
export interface SeenTurnEnd {
  readonly kind: 'turn_ended';
  readonly turn: string;
  readonly outcome: TurnOutcomePhase;
  readonly steps: number;
  readonly usage: Usage;
  readonly milliseconds: number;
}

/** A published event as those see it who count and write lines: no words of anybody. */
export type SeenEvent =
  | { readonly kind: 'turn_started'; readonly turn: string }
  | SeenTurnEnd
  | { readonly kind: 'tool_called'; readonly call: string; readonly tool: string }
  | { readonly kind: 'tool_answered'; readonly call: string; readonly ok: boolean }
  | { readonly kind: 'approval_asked'; readonly turn: string | null; readonly tool: string }
  | {
      readonly kind: 'approval_answered';
      readonly turn: string | null;
      readonly tool: string;
      readonly decision: string;
    }
  | { readonly kind: 'diagnostic'; readonly turn: string | null; readonly of: string }
  | { readonly kind: 'other' };

const OUTCOMES: Readonly<Record<TurnOutcomePhase, true>> = {
  completed: true,
  cancelled: true,
  error: true,
  step_limit: true,
  interrupted: true,
};

/** The outcomes of turns. */
export const OUTCOME_NAMES: readonly string[] = Object.keys(OUTCOMES);

const OTHER: SeenEvent = { kind: 'other' };

/** Reads an event. */
export function seeEvent({ name, turn, payload }: HostEvent): SeenEvent {
  switch (name) {
    case 'tool':
      return { kind: 'tool_called', call: textOf(payload['id']), tool: textOf(payload['name']) };
    case 'tool_result':
      return { kind: 'tool_answered', call: textOf(payload['id']), ok: payload['ok'] === true };
    case 'question':
      return { kind: 'approval_asked', turn, tool: textOf(payload['tool']) };
    case 'status':
      return seeStatus(turn, payload);
    case 'text':
    case 'thinking':
    case 'turn_end': // the status that comes after it says more
    case 'done':
    case 'compact':
      return OTHER;
    default:
      return name satisfies never;
  }
}

function seeStatus(turn: string | null, payload: Record<string, unknown>): SeenEvent {
  const { phase } = payload;
  switch (phase) {
    case 'start':
      return { kind: 'turn_started', turn: textOf(payload['turn']) };
    case 'approval': {
      const decision = textOf(payload['decision']);
      return { kind: 'approval_answered', turn, tool: textOf(payload['tool']), decision };
    }
    case 'diagnostic':
      return { kind: 'diagnostic', turn, of: textOf(payload['kind']) };
    default:
      return isOutcome(phase) && isRecord(payload['usage']) ? seeEnd(phase, payload) : OTHER;
  }
}

function seeEnd(outcome: TurnOutcomePhase, payload: Record<string, unknown>): SeenTurnEnd {
  return {
    kind: 'turn_ended',
    turn: textOf(payload['turn']),
    outcome,
    steps: countOf(payload['steps']),
    usage: usageOf(payload['usage']),
    milliseconds: countOf(payload['milliseconds']),
  };
}

function usageOf(value: unknown): Usage {
  const told = isRecord(value) ? value : {};
  const usage = zeroUsage();
  for (const name of Object.keys(usage) as (keyof Usage)[]) usage[name] = countOf(told[name]);
  return usage;
}

const isOutcome = (phase: unknown): phase is TurnOutcomePhase =>
  typeof phase === 'string' && Object.hasOwn(OUTCOMES, phase);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A clock may go back, and a model may count anything: neither may break a counter. */
const countOf = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
