import { expectTypeOf, test } from 'vitest';

import type { FinishReason, LoopEvent, SseEventName, ToolCall, TurnOutcome } from '@celestea/core';

test('C5.6 X8 X17 the loop events and their shapes', () => {
  expectTypeOf<LoopEvent>().toEqualTypeOf<
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
        decision: 'allow' | 'deny' | 'ask' | null;
        abandoned?: true;
      }
    | { kind: 'done'; text: string; tool_calls: ToolCall[]; finish?: FinishReason }
    | { kind: 'turn_end'; outcome: TurnOutcome }
  >();
});

test('C5.7 the names of server-sent events', () => {
  expectTypeOf<SseEventName>().toEqualTypeOf<
    | 'text'
    | 'thinking'
    | 'tool'
    | 'tool_result'
    | 'turn_end'
    | 'done'
    | 'status'
    | 'compact'
    | 'question'
  >();
});
