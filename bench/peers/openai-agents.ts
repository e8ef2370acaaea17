import {
  Agent,
  Runner,
  setTracingDisabled,
  tool,
  Usage,
  type Model,
  type ModelRequest,
  type StreamEvent,
} from '@openai/agents';
import { z } from 'zod';

import {
  callsOf,
  compute,
  events,
  replyDeltas,
  replyText,
  SYSTEM_PROMPT,
  TOOL_NAMES,
  toolDescription,
  USER_INPUT,
  type Plan,
  type Subject,
} from '../workers/script.ts';
import { serve } from '../workers/serve.ts';
import { turnCases } from '../workers/turn-cases.ts';

type Output = Extract<StreamEvent, { type: 'response_done' }>['response']['output'];

setTracingDisabled(true);

const tools = TOOL_NAMES.map((name) =>
  tool({
    name,
    description: toolDescription(name),
    parameters: z.object({ n: z.number() }),
    execute: ({ n }) => compute(name, n),
  }),
);

const subject: Subject = (plan) => {
  const runner = new Runner({ tracingDisabled: true });
  const model = new PlannedModel(plan);
  const agent = new Agent({ name: 'planned', instructions: SYSTEM_PROMPT, model, tools });
  return () => async (signal) => {
    const seen = { characters: 0, toolResults: 0 };
    const maxTurns = plan.steps + 1;
    const result = await runner.run(agent, USER_INPUT, { stream: true, signal, maxTurns });
    for await (const event of result) {
      if (event.type === 'raw_model_stream_event') {
        if (event.data.type === 'output_text_delta') seen.characters += event.data.delta.length;
      } else if (event.type === 'run_item_stream_event' && event.name === 'tool_output') {
        seen.toolResults += 1;
      }
    }
    await result.completed;
    return seen;
  };
};

class PlannedModel implements Model {
  readonly #plan: Plan;
  readonly #text: string;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#text = replyText(plan.deltas);
  }

  getResponse(): never {
    throw new Error('not used');
  }

  getStreamedResponse({ input }: ModelRequest): AsyncIterable<StreamEvent> {
    const step = (input.length - 1) / (2 * TOOL_NAMES.length); // a call and a result each
    if (step < this.#plan.steps) return events([done(callItems(step))]);
    return replyDeltas<StreamEvent>(
      this.#plan,
      (delta) => ({ type: 'output_text_delta', delta }),
      [{ type: 'response_started' }],
      () => [done(textItems(this.#text))],
    );
  }
}

const callItems = (step: number): Output =>
  callsOf(step).map(({ id, name, args }) => ({
    type: 'function_call',
    callId: id,
    name,
    status: 'completed',
    arguments: JSON.stringify(args),
  }));

const textItems = (text: string): Output => [
  {
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text }],
  },
];

function done(output: Output): StreamEvent {
  const { inputTokens, outputTokens, totalTokens } = new Usage();
  const usage = { inputTokens, outputTokens, totalTokens };
  return { type: 'response_done', response: { id: 'response', usage, output } };
}

serve(turnCases('turn', subject));
