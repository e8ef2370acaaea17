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
}

/** One burst of reasoning. People may read it; the model never sees it again. */
export interface ThinkingDeltaRow {
  type: 'thinking_delta';
  text: string;
}

export interface ToolCallRow {
  type: 'tool_call';
  id: string;
  name: string;
  args: unknown;
  /** The call that made this one. Such a row is audit only. */
  parent_id?: string;
}

export interface ToolResultRow {
  type: 'tool_result';
  /** The call it answers. */
  id: string;
  value: unknown;
  error: string | null;
  parent_id?: string;
  surface?: ToolSurface;
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
