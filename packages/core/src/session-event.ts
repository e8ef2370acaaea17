import type { ImageRef } from './message.ts';
import type { ToolSurface } from './tool.ts';
import type { TurnOutcome } from './turn-outcome.ts';

export interface TurnStartRow {
  type: 'turn_start';
  id: string;
}

export interface TurnEndRow {
  type: 'turn_end';
  id: string;
  /** Left out, it reads as `completed`. */
  outcome?: TurnOutcome;
}

export interface UserMessageRow {
  type: 'user_message';
  text: string;
  /** Left out when empty. */
  attachments?: ImageRef[];
}

export interface AssistantMessageRow {
  type: 'assistant_message';
  text: string;
  /** Words spoken beside tool calls: the model sees them in one message with the calls (X9). */
  calls_follow?: true;
}

/** One burst of reasoning. The model sees it again only when its provider signed it. */
export interface ThinkingDeltaRow {
  type: 'thinking_delta';
  text: string;
  /** What the provider wants back verbatim (X10). */
  meta?: unknown;
}

export interface ToolCallRow {
  type: 'tool_call';
  id: string;
  name: string;
  args: unknown;
  /** The call that made this one. Such a row is audit only. */
  parent_id?: string;
  /** What the provider wants back verbatim (X10). */
  meta?: unknown;
}

export interface ToolResultRow {
  type: 'tool_result';
  /** The call it answers. */
  id: string;
  value: unknown;
  error: string | null;
  parent_id?: string;
  surface?: ToolSurface;
  /** The call had started when its turn was cancelled; its outcome is not known (X17). */
  abandoned?: true;
}

/** One row of a session log. Immutable by contract once it was appended (C1.5). */
export type SessionEvent =
  | TurnStartRow
  | TurnEndRow
  | UserMessageRow
  | AssistantMessageRow
  | ThinkingDeltaRow
  | ToolCallRow
  | ToolResultRow;
