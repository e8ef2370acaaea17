import { expectTypeOf, test } from 'vitest';

import { Context, LLM_SERVICE, SESSION_LOG_SERVICE, type Llm, type SessionLog } from '@celestea/core';

test('C5.3 tokens carry their type, and a plain string works with a type argument', () => {
  const ctx = Context.root();
  class Clock {
    now(): number {
      return 0;
    }
  }
  expectTypeOf(ctx.get(LLM_SERVICE)).toEqualTypeOf<Llm | undefined>();
  expectTypeOf(ctx.get(SESSION_LOG_SERVICE)).toEqualTypeOf<SessionLog | undefined>();
  expectTypeOf(ctx.get<Clock>('clock')).toEqualTypeOf<Clock | undefined>();
  expectTypeOf(ctx.get('clock')).toEqualTypeOf<unknown>();
  expectTypeOf(ctx.get(Clock)).toEqualTypeOf<Clock | undefined>();
});
