import { expectTypeOf, test } from 'vitest';

import type {
  OmittedSurface,
  Tool,
  ToolDecision,
  ToolExecOutcome,
  ToolGuard,
  ToolInput,
  ToolOutput,
  ToolRegistry,
  ToolSpec,
  ToolSurface,
  TruncationSurface,
} from '@celestea/core';

// Core declares the tool seam; what a registry does with it is proved where one is built.

test('C3.1 a spec names, describes and has a JSON Schema', () => {
  expectTypeOf<ToolSpec>().toEqualTypeOf<{
    name: string;
    description: string;
    parameters: Record<string, unknown>;
  }>();
});

test('C3.2 an input is a call id, a name and raw arguments', () => {
  expectTypeOf<ToolInput>().toEqualTypeOf<{ call_id: string; name: string; args: unknown }>();
});

test('C3.3 X17 an output holds value, render, error and decision; the rest is optional', () => {
  expectTypeOf<ToolOutput>().toEqualTypeOf<{
    call_id: string;
    value: unknown;
    render: string | null;
    error: string | null;
    decision: ToolDecision | null;
    surface?: ToolSurface;
    abandoned?: true;
  }>();
});

test('X12 a surface is one of two kinds we know, or any other', () => {
  expectTypeOf<OmittedSurface>().toEqualTypeOf<{
    kind: 'omitted';
    omitted_bytes: number;
    total_bytes: number;
    locator: string;
    retrieval_hint: string;
    head_bytes: number;
    tail_bytes: number;
  }>();
  expectTypeOf<TruncationSurface>().toEqualTypeOf<{ kind: 'truncation'; note: string }>();
  expectTypeOf<ToolSurface>().toEqualTypeOf<
    OmittedSurface | TruncationSurface | Record<string, unknown>
  >();
});

test('C3.4 a decision is one of three, and two of them give a reason', () => {
  expectTypeOf<ToolDecision>().toEqualTypeOf<
    { kind: 'allow' } | { kind: 'deny'; reason: string } | { kind: 'ask'; reason: string }
  >();
});

test('C3.5 a tool has a spec and execute; executeWith and readOnly are optional', () => {
  expectTypeOf<ToolExecOutcome>().toEqualTypeOf<{
    value: unknown;
    render: string | null;
    surface?: ToolSurface;
  }>();
  expectTypeOf<Tool>().toEqualTypeOf<{
    readonly readOnly?: true;
    spec(): ToolSpec;
    execute(args: unknown, options?: { signal?: AbortSignal }): Promise<unknown>;
    executeWith?(
      input: ToolInput,
      options?: { signal?: AbortSignal },
    ): Promise<ToolExecOutcome>;
  }>();
});

test('C3.6 a guard checks an input and gives a decision', () => {
  expectTypeOf<ToolGuard>().toEqualTypeOf<{
    check(input: ToolInput): Promise<ToolDecision>;
  }>();
});

test('C3.7 a registry has these five methods', () => {
  expectTypeOf<ToolRegistry>().toEqualTypeOf<{
    register(tool: Tool): void;
    addGuard(guard: ToolGuard): void;
    get(name: string): Tool | undefined;
    schemas(): ToolSpec[];
    dispatch(input: ToolInput, options?: { signal?: AbortSignal }): Promise<ToolOutput>;
  }>();
});
