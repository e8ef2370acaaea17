import { stepCountIs, streamText, tool, type LanguageModel } from 'ai';
import { z } from 'zod';

import {
  callsOf,
  compute,
  events,
  replyDeltas,
  SYSTEM_PROMPT,
  TOOL_NAMES,
  toolDescription,
  USER_INPUT,
  type Plan,
  type Subject,
} from '../workers/script.ts';
import { serve } from '../workers/serve.ts';
import { turnCases } from '../workers/turn-cases.ts';

type Model = Extract<LanguageModel, { specificationVersion: 'v3' }>;
type CallOptions = Parameters<Model['doStream']>[0];
type Part =
  Awaited<ReturnType<Model['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never;

const tools = Object.fromEntries(
  TOOL_NAMES.map((name) => [
    name,
    tool({
      description: toolDescription(name),
      inputSchema: z.object({ n: z.number() }),
      execute: ({ n }) => compute(name, n),
    }),
  ]),
);

const subject: Subject = (plan) => {
  const model = new PlannedModel(plan);
  return () => async (abortSignal) => {
    const seen = { characters: 0, toolResults: 0 };
    const result = streamText({
      model,
      tools,
      system: SYSTEM_PROMPT,
      prompt: USER_INPUT,
      stopWhen: stepCountIs(plan.steps + 1),
      abortSignal,
      onError: ({ error }) => {
        throw error;
      },
    });
    for await (const part of result.fullStream) {
      if (part.type === 'text-delta') seen.characters += part.text.length;
      else if (part.type === 'tool-result') seen.toolResults += 1;
    }
    return seen;
  };
};

class PlannedModel implements Model {
  readonly specificationVersion = 'v3';
  readonly provider = 'planned';
  readonly modelId = 'planned';
  readonly supportedUrls = {};
  readonly #plan: Plan;

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  doGenerate(): never {
    throw new Error('not used');
  }

  doStream({ prompt }: CallOptions): ReturnType<Model['doStream']> {
    const step = (prompt.length - 2) / 2; // each step adds its calls and their results
    const calling = step < this.#plan.steps;
    const source = calling ? events(callParts(step)) : replyParts(this.#plan);
    return Promise.resolve({ stream: readable(source) });
  }
}

function callParts(step: number): Part[] {
  const calls = callsOf(step).map(
    ({ id, name, args }): Part => ({
      type: 'tool-call',
      toolCallId: id,
      toolName: name,
      input: JSON.stringify(args),
    }),
  );
  return [{ type: 'stream-start', warnings: [] }, ...calls, finish('tool-calls')];
}

function replyParts(plan: Plan): AsyncGenerator<Part> {
  return replyDeltas<Part>(
    plan,
    (delta) => ({ type: 'text-delta', id: '0', delta }),
    [
      { type: 'stream-start', warnings: [] },
      { type: 'text-start', id: '0' },
    ],
    () => [{ type: 'text-end', id: '0' }, finish('stop')],
  );
}

function finish(unified: 'stop' | 'tool-calls'): Part {
  const inputTokens = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 };
  const outputTokens = { total: 0, text: 0, reasoning: 0 };
  const finishReason = { unified, raw: undefined };
  return { type: 'finish', finishReason, usage: { inputTokens, outputTokens } };
}

function readable(source: AsyncGenerator<Part>): ReadableStream<Part> {
  return new ReadableStream({
    async pull(controller) {
      const next = await source.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
  });
}

serve(turnCases('turn', subject));
