/** The model and the registry of a world. */
import type { Llm, ToolInput, ToolRegistry, ToolSpec } from '@celestea/core';
import { FakeToolRegistry } from '@celestea/agent-loop/testing';

import type { WorldClock } from './run-world-clock.ts';
import { ARGS, MALFORMED, OUTPUTS, raise, rejection, VALUES } from './worlds-values.ts';
import type { CallPlan, ReplyPlan, StreamItem, ToolPlan, World } from './worlds.ts';

export interface SeamHooks {
  readonly clock: WorldClock;
  /** Told of every moment at which the loop waits for a seam. */
  readonly waits: () => void;
  readonly asked: (request: unknown, signal: AbortSignal | undefined) => void;
  readonly delivered: (item: StreamItem | 'end') => void;
  readonly post: (text: string) => void;
  /** A stream was opened, read to its end (also by a throw), or closed. */
  readonly stream: (reply: number, fate: 'opened' | 'ended' | 'closed') => void;
  readonly starts: (input: ToolInput, signal: AbortSignal | undefined) => void;
  readonly settles: (name: string) => void;
}

const THE_END: ReplyPlan = {
  generate: 'stream',
  error: 'error',
  wait: 0,
  items: [{ kind: 'done', texts: ['the end'], calls: [], finish: null }],
  close: 'ok',
};

export const replyAt = (world: World, index: number): ReplyPlan => world.replies[index] ?? THE_END;

const block = ({ id, name, args }: CallPlan): unknown => ({
  type: 'tool_call',
  content: { ...(id === null ? {} : { id }), name, args: ARGS[args]() },
});

/** The event that an item stands for; `null` for one that gives none. */
function eventOf(item: StreamItem): { event: unknown } | null {
  switch (item.kind) {
    case 'text':
    case 'failed':
    case 'interrupted':
      return { event: item };
    case 'thinking': {
      const { meta, ...plain } = item;
      return { event: meta === null ? plain : item };
    }
    case 'usage': {
      const usage = { prompt_tokens: item.tokens, completion_tokens: 1, total_tokens: 0 };
      return { event: { kind: 'usage', usage: { ...usage, cache_read: 0, reasoning_tokens: 0 } } };
    }
    case 'done': {
      const texts = item.texts.map((content) => ({ type: 'text', content }));
      const content = [...texts, ...item.calls.map(block)];
      const event = { kind: 'done', message: { role: 'assistant', content, tool_call_id: null } };
      return { event: item.finish === null ? event : { ...event, finish: item.finish } };
    }
    case 'malformed':
      return { event: MALFORMED[item.what]() };
    case 'throw':
    case 'wait':
    case 'post':
      return null;
  }
}

function iteratorOf(plan: ReplyPlan, index: number, hooks: SeamHooks): AsyncIterator<unknown> {
  const left = plan.items.values();
  if (plan.close !== 'absent') hooks.stream(index, 'opened');
  const next = async (): Promise<IteratorResult<unknown>> => {
    hooks.waits();
    for (;;) {
      const { done: empty, value: item } = left.next();
      if (empty === true) {
        hooks.delivered('end');
        hooks.stream(index, 'ended');
        return { done: true, value: undefined };
      }
      if (item.kind === 'post') hooks.post(item.text);
      if (item.kind === 'wait') await hooks.clock.pass(item.pace);
      if (item.kind === 'throw') {
        hooks.delivered(item);
        hooks.stream(index, 'ended');
        raise(item.error);
      }
      const made = eventOf(item);
      if (made === null) continue;
      hooks.delivered(item);
      return { done: false, value: made.event };
    }
  };
  if (plan.close === 'absent') return { next };
  const close = (): Promise<IteratorResult<unknown>> => {
    hooks.stream(index, 'closed');
    if (plan.close === 'throws') raise(plan.error);
    if (plan.close === 'hangs') return new Promise(() => undefined);
    if (plan.close === 'rejects') return rejection(plan.error);
    return Promise.resolve({ done: true, value: undefined });
  };
  return { next, return: close };
}

export function modelOf(world: World, hooks: SeamHooks): Llm {
  let requests = 0;
  const generate = (request: unknown, options?: { signal?: AbortSignal }): unknown => {
    const index = requests;
    requests += 1;
    const plan = replyAt(world, index);
    hooks.asked(request, options?.signal);
    hooks.waits();
    const stream = { [Symbol.asyncIterator]: () => iteratorOf(plan, index, hooks) };
    const given = { stream, nothing: undefined, number: 42, odd: { [Symbol.asyncIterator]: 5 } };
    switch (plan.generate) {
      case 'bare':
        return stream;
      case 'throw':
        return raise(plan.error);
      case 'reject':
        return rejection(plan.error);
      case 'hang':
        return new Promise(() => undefined);
      default:
        return hooks.clock
          .pass(plan.wait === 0 ? 'now' : plan.wait)
          .then(() => given[plan.generate as keyof typeof given]);
    }
  };
  // The worlds' models break the contract on purpose.
  return { generate } as unknown as Llm;
}

/** Work that ends early when it obeys its signal, and leaves no listener on it. */
async function work(
  { pace, obeys }: ToolPlan,
  clock: WorldClock,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (!obeys || signal === undefined) return clock.pass(pace);
  if (signal.aborted) throw new Error('stopped');
  let stop: () => void = () => undefined;
  const stopped = new Promise<void>((_, reject) => {
    stop = () => {
      reject(new Error('stopped'));
    };
  });
  signal.addEventListener('abort', stop, { once: true });
  try {
    await Promise.race([clock.pass(pace), stopped]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

export function registryOf(world: World, hooks: SeamHooks, schemas: () => void): ToolRegistry {
  const calls = world.replies.flatMap(({ items }) =>
    items.flatMap((item) => (item.kind === 'done' ? item.calls : [])),
  );
  const plans = new Map(calls.map((call) => [call.name, call.tool]));
  const settle = async (
    plan: ToolPlan,
    input: ToolInput,
    signal?: AbortSignal,
  ): Promise<unknown> => {
    try {
      await work(plan, hooks.clock, signal);
      if (plan.does === 'reject') raise(plan.error);
      if (plan.does === 'output') return OUTPUTS[plan.output][1](input);
      return { ...OUTPUTS.fine[1](input), value: VALUES[plan.value]() };
    } finally {
      hooks.settles(input.name);
    }
  };
  const dispatch = (input: ToolInput, options?: { signal?: AbortSignal }): unknown => {
    hooks.starts(input, options?.signal);
    hooks.waits();
    const plan = input.name === '' ? undefined : plans.get(input.name);
    if (plan === undefined || plan.does === 'throw') {
      hooks.settles(input.name);
      return raise(plan?.error ?? 'error');
    }
    if (plan.post !== '') hooks.post(plan.post);
    return settle(plan, input, options?.signal);
  };
  const registry: ToolRegistry = new FakeToolRegistry();
  registry.schemas = (): ToolSpec[] => {
    schemas();
    return [];
  };
  registry.dispatch = dispatch as ToolRegistry['dispatch'];
  return registry;
}
