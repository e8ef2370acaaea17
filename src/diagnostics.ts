/** What can go wrong beside a turn without ending it (X15). */
export type DiagnosticKind =
  | 'model_failed'
  | 'sink_failed'
  | 'usage_failed'
  | 'injections_failed'
  | 'spill_failed'
  | 'foreign_call_id'
  | 'call_id_replaced'
  | 'malformed_output'
  | 'event_after_done'
  | 'tool_abandoned';

/** One fault that the turn went on from. */
export interface Diagnostic {
  readonly kind: DiagnosticKind;
  /** For people: what happened, and where. */
  readonly message: string;
  /** What was thrown, where something was. */
  readonly error?: unknown;
}

/** Told of each {@link Diagnostic}; what it throws is ignored. */
export type DiagnosticListener = (diagnostic: Diagnostic) => void;
