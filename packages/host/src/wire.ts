import type { Role, TurnOutcomePhase } from '@celestea/core';

/** A session, as a list tells of it. */
export interface WireSession {
  readonly id: string;
  /** The first words of the user in one line of at most 80 characters; empty when not known. */
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly created_ms: number;
  /** When it was last written, in milliseconds since 1970. */
  readonly changed_ms: number;
  /** Of its log. */
  readonly bytes: number;
  /** How many turns were begun; left out when the ends of the log do not say. */
  readonly turns?: number | undefined;
  /** Whether a turn runs. */
  readonly running: boolean;
}

/** What was streamed of the reply that the model is giving, and stands in no row yet. */
export interface WireReply {
  readonly text: string;
  readonly thinking: string;
}

/** A turn that runs. */
export interface WireRunning {
  /** Its id. */
  readonly turn: string;
  /** What a person sent to start it. */
  readonly input: string;
  /** Milliseconds since 1970. */
  readonly started_ms: number;
  /** Requests made to the model so far. */
  readonly step: number;
  readonly reply: WireReply;
  /** What was sent to it that it has not taken yet. */
  readonly waiting: readonly string[];
}

/** A call that waits for somebody to allow it. */
export interface WireApproval {
  /** To be named in the answer. */
  readonly id: string;
  /** The question in words. */
  readonly text: string;
  readonly call_id: string;
  readonly tool: string;
  /** As the model gave them: show them as text, never as markup. */
  readonly args: unknown;
  /** Why a guard wants the call approved. */
  readonly reason: string;
  /** Milliseconds since 1970. */
  readonly asked_ms: number;
}

/** What a session is doing. */
export interface WireNow {
  readonly running: WireRunning | null;
  /** Oldest first. */
  readonly approvals: readonly WireApproval[];
}

/** What a session is doing at an instant, and how far its log and its events were. */
export interface WireState extends WireNow {
  /** How many rows the log had. */
  readonly rows: number;
  /** The seq of the last event. */
  readonly last_event_id: number;
  /**
   * What the turn that ended last did not take of what was sent to it, until the next one starts;
   * empty for a session that is not open.
   */
  readonly undelivered: readonly string[];
  /** Whether somebody beside this host has it open for writing: what runs there is not known. */
  readonly held_elsewhere: boolean;
}

/** What every row has: its place in the log, and the turn it belongs to. */
interface WireRowPlace {
  readonly at: number;
  readonly turn: string | null;
}

/** A row of a session, as a person reads it. */
export type WireMessage = WireRowPlace &
  (
    | {
        readonly kind: 'user';
        readonly text: string;
        readonly attachments?: readonly object[] | undefined;
      }
    | { readonly kind: 'assistant'; readonly text: string }
    | { readonly kind: 'thinking'; readonly text: string }
    | {
        readonly kind: 'tool_call';
        readonly id: string;
        readonly name: string;
        readonly args: unknown;
        readonly parent_id?: string | undefined;
      }
    | {
        readonly kind: 'tool_result';
        readonly id: string;
        readonly ok: boolean;
        readonly value: unknown;
        readonly error: string | null;
        /** A guard or a person refused the call. */
        readonly denied?: boolean | undefined;
        readonly abandoned?: boolean | undefined;
        readonly parent_id?: string | undefined;
      }
    | { readonly kind: 'turn_end'; readonly outcome: TurnOutcomePhase; readonly error: string | null }
  );

/** A page of a session, and where the pages beside it begin. */
export interface WirePage {
  readonly messages: readonly WireMessage[];
  /** The `before` of the page before it; `null` when this is the first. */
  readonly previous: number | null;
  /** The `after` of the next page; `null` when this is the last. */
  readonly next: number | null;
}

/** What the next request to the model would be. */
export interface WireContext {
  readonly request: {
    readonly system: string | null;
    readonly messages: readonly object[];
    readonly tools: readonly object[];
  };
  /** What it takes by its parts, in tokens; estimates, as those that decide what is cut. */
  readonly tokens: {
    /** The system prompt. */
    readonly system: number;
    readonly messages: Readonly<Record<Role, number>>;
    /** What the model is told of the tools. No budget counts them. */
    readonly tools: number;
    /** All of these. */
    readonly total: number;
  };
  /** Tokens of the model's window; 0 when it is not known, and nothing is cut then. */
  readonly window: number;
  /** Tokens that system prompt and messages may take; `null` without a window. */
  readonly budget: number | null;
}

/** What of a request's body or query was wrong. */
export interface WireIssue {
  readonly field: string;
  readonly expected: string;
  readonly came: string;
}
