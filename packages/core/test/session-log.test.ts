import { expectTypeOf, test } from 'vitest';

import type {
  ImageRef,
  Message,
  SessionEvent,
  SessionLog,
  ToolSurface,
  TurnOutcome,
} from '@celestea/core';

// Core declares the log seam; what a log does is proved where one is built. The part of
// C4.2 that is code here, the restored counter, stands in turn-id.test.ts.

test('C4.2 a log has these six methods, and flush is optional', () => {
  expectTypeOf<SessionLog>().toEqualTypeOf<{
    append(event: SessionEvent): void;
    events(): SessionEvent[];
    deriveMessages(): Message[];
    clear(): void;
    nextTurnId(): string;
    flush?(): Promise<void>;
  }>();
});

test('C4 X9 X10 X12 X17 the rows are a closed union of seven', () => {
  expectTypeOf<SessionEvent>().toEqualTypeOf<
    | { type: 'turn_start'; id: string }
    | { type: 'turn_end'; id: string; outcome?: TurnOutcome }
    | { type: 'user_message'; text: string; attachments?: ImageRef[] }
    | { type: 'assistant_message'; text: string; calls_follow?: true }
    | { type: 'thinking_delta'; text: string; meta?: unknown }
    | {
        type: 'tool_call';
        id: string;
        name: string;
        args: unknown;
        parent_id?: string;
        meta?: unknown;
      }
    | {
        type: 'tool_result';
        id: string;
        value: unknown;
        error: string | null;
        parent_id?: string;
        surface?: ToolSurface;
        abandoned?: true;
      }
  >();
});
