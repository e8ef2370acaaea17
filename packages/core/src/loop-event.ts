import type { ToolCall } from './message.ts';
import type { FinishReason } from './model.ts';
import type { ToolDecision } from './tool.ts';
import type { TurnOutcome } from './turn-outcome.ts';

/** What a running turn tells its host. */
export type LoopEvent =
  | { kind: 'text'; delta: string }
  | { kind: 'thinking'; delta: string }
  | { kind: 'tool_call'; id: string; name: string; args: unknown }
  | {
      kind: 'tool_result';
      callId: string;
      ok: boolean;
      value: unknown;
      render: string | null;
      error: string | null;
      decision: ToolDecision['kind'] | null;
      /** The call had started and its outcome is not known (X17). */
      abandoned?: true;
    }
  | { kind: 'done'; text: string; tool_calls: ToolCall[]; finish?: FinishReason }
  | { kind: 'turn_end'; outcome: TurnOutcome };

/** The names of server-sent events that hosts of celestea agents speak. */
export const SSE_EVENT_NAMES = [
  'text',
  'thinking',
  'tool',
  'tool_result',
  'turn_end',
  'done',
  'status',
  'compact',
  'question',
] as const;

/** One of {@link SSE_EVENT_NAMES}. */
export type SseEventName = (typeof SSE_EVENT_NAMES)[number];
