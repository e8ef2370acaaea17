import { isRecord, type ToolCall } from '@celestea/core';

/** What becomes of a turn; all but `completes` are only ended by the death of the server. */
export type TurnFate = 'completes' | 'stops in the model' | 'stops in a tool' | 'goes on';

/** A turn, as the model plays it, the tools run it and a reader expects it. */
export interface TurnPlan {
  readonly wave: number;
  /** Of the session, from 0. */
  readonly index: number;
  /** So many turns of the wave wait for each other before the first says anything. */
  readonly together: number;
  /** Requests to the model; the last one calls no tool. */
  readonly steps: number;
  /** Text deltas a step. */
  readonly pieces: number;
  /** UTF-16 units a delta, about. */
  readonly pieceLength: number;
  /** Parallel tool calls a step. */
  readonly calls: number;
  readonly fate: TurnFate;
}

/** Code points of one, two, three and four bytes, and a line end of Unicode. */
const FILLER = 'words – ä € 𝄞 \u2028 ';

/** The text of a delta; no two of a load test are the same. */
export function pieceText(plan: TurnPlan, step: number, piece: number): string {
  const place = [plan.wave, plan.index, step, piece].join('.');
  const times = Math.max(1, Math.round((plan.pieceLength - place.length) / FILLER.length));
  return `${place} ${FILLER.repeat(times)}`;
}

/** Everything that a step says. */
export function stepText(plan: TurnPlan, step: number): string {
  return Array.from({ length: plan.pieces }, (_, piece) => pieceText(plan, step, piece)).join('');
}

/** The calls of a step; their ids are unique in their session. */
export function stepCalls(plan: TurnPlan, step: number): ToolCall[] {
  if (plan.fate !== 'goes on' && step >= plan.steps - 1) return [];
  return Array.from({ length: plan.calls }, (_, call) => ({
    id: `call-${[plan.wave, step, call].join('-')}`,
    name: 'work',
    args: { session: plan.index, stops: stopsHere(plan, step) && call === 0 },
  }));
}

/** What a call comes to. */
export const callResult = (callId: string): string => `result of ${callId}`;

/** The step in which a turn stops that is to. */
export const STOPPING_STEP = 1;

const stopsHere = (plan: TurnPlan, step: number): boolean =>
  plan.fate === 'stops in a tool' && step === STOPPING_STEP;

/** A plan is what the user says, so that the model has it from the log. */
export const planText = (plan: TurnPlan): string => JSON.stringify(plan);

/** Throws for a text that is no plan. */
export function readPlan(text: string): TurnPlan {
  const plan: unknown = JSON.parse(text);
  if (isRecord(plan) && typeof plan['fate'] === 'string') return plan as unknown as TurnPlan;
  throw new Error(`no plan of a turn: ${text.slice(0, 100)}`);
}
