/** A session, as a list tells of it. */
export interface WireSession {
  readonly id: string;
  readonly title: string;
  readonly created_ms: number;
  readonly changed_ms: number;
  readonly bytes: number;
  readonly turns?: number | undefined;
  readonly running: boolean;
}

/** What was streamed of a reply that stands in no row yet. */
export interface WireReply {
  readonly text: string;
  readonly thinking: string;
}

/** A turn that runs. */
export interface WireRunning {
  readonly turn: string;
  readonly input: string;
  readonly started_ms: number;
  readonly step: number;
  readonly reply: WireReply;
  readonly waiting: readonly string[];
}

/** A call that waits for somebody to allow it. */
export interface WireApproval {
  readonly id: string;
  readonly call_id: string;
  readonly tool: string;
  readonly args: unknown;
  readonly reason: string;
  readonly asked_ms: number;
}

/** What a session is doing at an instant, and how far its log and its events were. */
export interface WireState {
  readonly running: WireRunning | null;
  readonly approvals: readonly WireApproval[];
  /** How many rows the log had. */
  readonly rows: number;
  /** The seq of the last event. */
  readonly last_event_id: number;
  /**
   * What the turn that ended last did not take of what was said to it, until the next one starts;
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
        readonly attachments?: readonly Record<string, unknown>[] | undefined;
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
        readonly abandoned?: boolean | undefined;
        readonly parent_id?: string | undefined;
      }
    | { readonly kind: 'turn_end'; readonly outcome: string; readonly error: string | null }
  );

/** What the next request to the model would be. */
export interface WireContext {
  readonly request: {
    readonly system: string | null;
    readonly messages: readonly Record<string, unknown>[];
    readonly tools: readonly Record<string, unknown>[];
  };
  readonly tokens: {
    readonly system: number;
    readonly messages: Readonly<Record<'system' | 'user' | 'assistant' | 'tool', number>>;
    readonly tools: number;
    readonly total: number;
  };
  readonly window: number;
  readonly budget: number | null;
}

/** What of a request's body or query was wrong. */
export interface WireIssue {
  readonly field: string;
  readonly expected: string;
  readonly came: string;
}
