/** Whole worlds of one turn as plain data: what each can print, any other run can play again. */
import type { FinishReason, ModelFailureKind, SessionEvent } from '@celestea/core';

import type {
  ArgsName,
  MalformedName,
  OutputName,
  ThrownName,
  ValueName,
} from './worlds-values.ts';

/** How long work takes: none at all, some microtasks, milliseconds, or for ever. */
export type Pace = 'now' | 'soon' | 2 | 10 | 100 | 'never';

/** JSON has no word for some numbers. */
export type AnyNumber = number | 'NaN' | 'Infinity';

export interface ToolPlan {
  readonly pace: Pace;
  /** Whether it stops when its signal fires. */
  readonly obeys: boolean;
  /** `throw` throws in the very call, `reject` and the rest after its pace. */
  readonly does: 'value' | 'throw' | 'reject' | 'output';
  readonly value: ValueName;
  readonly error: ThrownName;
  readonly output: OutputName;
  /** A message that comes in when it starts; empty for none. */
  readonly post: string;
}

export interface CallPlan {
  readonly id: string | number | null;
  /** Unlike the id it tells the calls of a world apart; empty for a call without a name. */
  readonly name: string;
  readonly args: ArgsName;
  readonly tool: ToolPlan;
}

export type StreamItem =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string; readonly meta: string | null }
  | { readonly kind: 'usage'; readonly tokens: number }
  | {
      readonly kind: 'done';
      readonly texts: readonly string[];
      readonly calls: readonly CallPlan[];
      readonly finish: FinishReason | null;
    }
  | { readonly kind: 'failed'; readonly kindOf: ModelFailureKind; readonly message: string }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'throw'; readonly error: ThrownName }
  | { readonly kind: 'malformed'; readonly what: MalformedName }
  | { readonly kind: 'wait'; readonly pace: Pace }
  | { readonly kind: 'post'; readonly text: string };

export interface ReplyPlan {
  readonly generate: 'stream' | 'bare' | 'throw' | 'reject' | 'hang' | 'nothing' | 'number' | 'odd';
  readonly error: ThrownName;
  readonly wait: 0 | 2;
  readonly items: readonly StreamItem[];
  readonly close: 'ok' | 'throws' | 'rejects' | 'hangs' | 'absent';
}

/** A moment of a turn: the n-th of its kind, and some microtasks after it. */
export type Moment =
  | { readonly kind: 'before' }
  | {
      readonly kind: 'event' | 'row' | 'await' | 'dispatch';
      readonly index: number;
      readonly ticks: number;
    }
  | { readonly kind: 'time'; readonly ms: number };

export type Reason = 'none' | 'text' | 'error' | 'null' | 'number' | 'object' | 'symbol';

export interface World {
  readonly history: readonly SessionEvent[];
  readonly input: string | null;
  readonly config: {
    readonly maxSteps: AnyNumber;
    readonly parallel: AnyNumber;
    readonly window: number;
    readonly threshold: AnyNumber;
    readonly keep: number;
  };
  /** One a request; what is asked beyond them is answered `the end`. */
  readonly replies: readonly ReplyPlan[];
  readonly aborts: readonly {
    readonly at: Moment;
    readonly of: 'loop' | 'turn';
    readonly reason: Reason;
  }[];
  readonly steering: {
    readonly drain: 'ok' | 'throws' | 'promise' | 'null' | 'junk';
    readonly pending: 'ok' | 'absent' | 'throws' | 'always' | 'NaN';
    readonly posts: readonly { readonly at: Moment; readonly text: string }[];
  } | null;
  readonly log: {
    readonly flush: 'absent' | 'now' | 'soon' | 2;
    readonly fault: {
      readonly what: 'append' | 'derive' | 'flush' | 'schemas' | 'nextTurnId';
      readonly index: number;
      readonly forever: boolean;
      readonly error: ThrownName;
    } | null;
  };
  readonly sink: 'ok' | 'throws' | 'rejects';
  readonly diagnostics: 'ok' | 'absent' | 'throws';
  readonly usage: 'ok' | 'throws';
  readonly timeouts: { readonly stream: 0 | 7 | 55; readonly tool: 0 | 7 | 55 };
  readonly retention: 'absent' | 'ok' | 'null' | 'throws' | 'rejects' | 'junk' | 'hangs' | 'late';
  readonly prepare: Hook | null;
  readonly policy: Hook | null;
}

/** What a host's hook does at one step; at the others it does nothing. */
export interface Hook {
  readonly does: 'nothing' | 'late' | 'throw' | 'reject' | 'hang';
  readonly step: number;
  readonly error: ThrownName;
}

export const numberOf = (value: AnyNumber): number => Number(value);

/** One line a thing that differs from the plainest world, and the whole as JSON to run again. */
export function describeWorld(world: World): string {
  const lines = world.replies.flatMap(({ items, ...how }, index) => [
    `reply ${String(index)}: ${JSON.stringify(how)}`,
    ...items.map((item) => `  ${JSON.stringify(item)}`),
  ]);
  const rest = Object.entries(world).filter(([name]) => name !== 'replies');
  return [
    '',
    ...rest.map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
    ...lines,
    `as JSON: ${JSON.stringify(world)}`,
    '',
  ].join('\n');
}
