import { DefaultAgentLoop, defaultAgentConfig, type EventSink } from '@celestea/agent-loop';
import {
  assistantText,
  Context,
  LLM_SERVICE,
  SESSION_LOG_SERVICE,
  TOOL_REGISTRY_SERVICE,
  type Llm,
  type LoopEvent,
  type Message,
  type StreamEvent,
  type ToolRegistry,
} from '@celestea/core';
import { InMemorySessionLog } from '@celestea/session';
import { DefaultToolRegistry, defineTool } from '@celestea/tools';

import {
  callsOf,
  compute,
  events,
  PARAMETERS,
  replyDeltas,
  replyText,
  SYSTEM_PROMPT,
  TOOL_NAMES,
  toolDescription,
  USER_INPUT,
  type Plan,
  type Received,
  type Subject,
  type ToolName,
} from './script.ts';
import { serve } from './serve.ts';
import { turnCases } from './turn-cases.ts';

/** Tokens of a window that never cuts, and of one that cuts at every step but the first few. */
const WIDE = 0;
const NARROW = 4_000;

class PlannedLlm implements Llm {
  readonly #plan: Plan;
  readonly #text: string;
  #step = 0;

  constructor(plan: Plan, text: string) {
    this.#plan = plan;
    this.#text = text;
  }

  generate(): Promise<AsyncIterable<StreamEvent>> {
    const step = this.#step;
    this.#step += 1;
    if (step < this.#plan.steps) return Promise.resolve(events([callsEvent(step)]));
    const done = { kind: 'done', message: assistantText(this.#text), finish: 'stop' } as const;
    return Promise.resolve(
      replyDeltas<StreamEvent>(this.#plan, (text) => ({ kind: 'text', text }), [], () => [done]),
    );
  }
}

function callsEvent(step: number): StreamEvent {
  const content = callsOf(step).map((call) => ({ type: 'tool_call' as const, content: call }));
  const message: Message = { role: 'assistant', content, tool_call_id: null };
  return { kind: 'done', message, finish: 'tool_calls' };
}

function packagedTools(): ToolRegistry {
  const registry = new DefaultToolRegistry();
  for (const name of TOOL_NAMES) {
    registry.register(
      defineTool({
        name,
        description: toolDescription(name),
        parameters: PARAMETERS,
        execute: ({ n }) => compute(name, n),
      }),
    );
  }
  return registry;
}

/** The seam and nothing behind it: what the loop itself costs. */
class BareTools extends DefaultToolRegistry {
  override dispatch: ToolRegistry['dispatch'] = ({ call_id, name, args }) => {
    const value = compute(name as ToolName, (args as { n: number }).n);
    return Promise.resolve({ call_id, value, render: null, error: null, decision: null });
  };
}

function bareTools(): ToolRegistry {
  const registry = new BareTools();
  for (const name of TOOL_NAMES) {
    registry.register({
      spec: () => ({ name, description: toolDescription(name), parameters: PARAMETERS }),
      execute: () => Promise.reject(new Error('not used')),
    });
  }
  return registry;
}

class Seen implements Received {
  characters = 0;
  toolResults = 0;
  readonly take: EventSink = (event: LoopEvent) => {
    if (event.kind === 'text') this.characters += event.delta.length;
    else if (event.kind === 'tool_result' && event.ok) this.toolResults += 1;
  };
}

interface Way {
  readonly pull?: boolean;
  readonly window?: number;
  readonly tools?: ToolRegistry;
}

function subject({ pull = false, window = WIDE, tools = packagedTools() }: Way): Subject {
  return (plan) => {
    const loop = new DefaultAgentLoop(
      defaultAgentConfig({
        system_prompt: SYSTEM_PROMPT,
        max_steps: 0,
        context_window_tokens: window,
      }),
    );
    const text = replyText(plan.deltas);
    return () => {
      const ctx = Context.root()
        .provide(LLM_SERVICE, new PlannedLlm(plan, text))
        .provide(SESSION_LOG_SERVICE, new InMemorySessionLog())
        .provide(TOOL_REGISTRY_SERVICE, tools);
      return async (signal) => {
        const seen = new Seen();
        if (pull) {
          for await (const event of loop.streamTurn(ctx, USER_INPUT, { signal })) seen.take(event);
        } else {
          const outcome = await loop.runTurnOutcome(ctx, USER_INPUT, { signal, sink: seen.take });
          if (outcome !== 'completed') throw new Error(JSON.stringify(outcome));
        }
        return seen;
      };
    };
  };
}

serve({
  ...turnCases('sink', subject({})),
  ...turnCases('pull', subject({ pull: true })),
  ...turnCases('narrow', subject({ window: NARROW })),
  ...turnCases('bare-tools', subject({ tools: bareTools() })),
});
