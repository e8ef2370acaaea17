import type { Evidence, KnownTool, PlannedCall } from './evidence.ts';

/** What the rules decide from. */
export interface PlanContext {
  readonly evidence: Evidence;
  /** The known tools among the offered ones. */
  readonly offered: ReadonlySet<KnownTool>;
}

/** What to do next for one part of a question, with the reasons in words. */
export interface Move {
  readonly calls: readonly PlannedCall[];
  readonly why: readonly string[];
}

/** Everything that can be known for a part is known. */
export const NOTHING_TO_DO: Move = { calls: [], why: [] };
