import type { ToolCall, ToolDecision, TurnOutcomePhase, SseEventName, Usage } from '@celestea/core';

import type { WireApproval, WireNow } from '../wire.ts';

/** What came of a question; `withdrawn`: nobody waits for the answer any more. */
export type ApprovalDecision = 'allow' | 'deny' | 'withdrawn';

/** How a turn ended. What it took is not known of one that died with its process. */
export interface TurnOver {
  readonly phase: TurnOutcomePhase;
  readonly turn: string;
  /** What went wrong; only with the phase `error`. */
  readonly error?: string;
  /** Why it was cancelled, when somebody said. */
  readonly reason?: string;
  /** Requests made to the model. */
  readonly steps?: number;
  readonly milliseconds?: number;
  readonly usage?: Usage;
  /** What all turns took since the session was opened. */
  readonly total?: Usage;
  /** What was sent to the turn and it did not take. */
  readonly undelivered?: readonly string[];
}

/** How far a turn that runs has come. */
export interface Progress {
  readonly phase: 'progress';
  readonly steps: number;
  readonly deltas_per_second: number;
  /** Tokens of the last request, an estimate. */
  readonly context_tokens: number;
  /** Tokens of the model's window; 0 when it is not known. */
  readonly window: number;
  readonly usage: Usage;
  readonly total: Usage;
}

/** What a `status` event tells, by its phase. A reader skips phases that it does not know. */
export type HostStatus =
  | { readonly phase: 'start'; readonly turn: string; readonly input: string }
  | Progress
  | { readonly phase: 'steer'; readonly input: string; readonly waiting: number }
  | { readonly phase: 'steered'; readonly inputs: readonly string[] }
  | {
      readonly phase: 'approval';
      readonly id: string;
      readonly decision: ApprovalDecision;
      readonly call_id: string;
      readonly tool: string;
    }
  | { readonly phase: 'diagnostic'; readonly kind: string; readonly message: string }
  | { readonly phase: 'lagged'; readonly snapshot: WireNow | null }
  | TurnOver;

/** What each event of `contracts/sse-events.json` brings. */
interface Payloads {
  readonly text: { readonly delta: string };
  readonly thinking: { readonly delta: string };
  readonly tool: ToolCall;
  readonly tool_result: {
    readonly id: string;
    readonly ok: boolean;
    readonly value: unknown;
    readonly render: string | null;
    readonly error: string | null;
    readonly decision: ToolDecision['kind'] | null;
    readonly abandoned?: true;
  };
  readonly done: { readonly text: string; readonly tool_calls: readonly ToolCall[] };
  readonly turn_end: { readonly outcome: TurnOutcomePhase; readonly error: string | null };
  readonly status: HostStatus;
  readonly compact: { readonly removed_messages: number; readonly removed_tokens: number };
  readonly question: WireApproval;
}

/** What happened in a session, before it gets its envelope. */
export type HostEvent = {
  [Name in SseEventName]: {
    readonly name: Name;
    /** The turn it belongs to; `null` between turns. */
    readonly turn: string | null;
    readonly payload: Payloads[Name];
  };
}[SseEventName];

/** Takes what happened; never throws. */
export type Publish = (event: HostEvent) => void;
