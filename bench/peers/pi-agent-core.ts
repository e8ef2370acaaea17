import {
  runAgentLoop,
  type AgentEvent,
  type AgentLoopConfig,
  type AgentMessage,
  type AgentTool,
  type StreamFn,
} from '@mariozechner/pi-agent-core';
import {
  createAssistantMessageEventStream,
  Type,
  type AssistantMessage,
  type AssistantMessageEvent,
  type Context,
  type Message,
  type Model,
} from '@mariozechner/pi-ai';

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

const model: Model<'openai-completions'> = {
  id: 'planned',
  name: 'planned',
  api: 'openai-completions',
  provider: 'planned',
  baseUrl: '',
  reasoning: false,
  input: ['text'],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1_000_000,
  maxTokens: 1_000_000,
};

const parameters = Type.Object({ n: Type.Number() });

const tools = TOOL_NAMES.map(
  (name): AgentTool<typeof parameters> => ({
    name,
    label: name,
    description: toolDescription(name),
    parameters,
    execute: (_id, { n }) =>
      Promise.resolve({
        content: [{ type: 'text', text: String(compute(name, n)) }],
        details: undefined,
      }),
  }),
);

const MODEL_ROLES: readonly string[] = ['user', 'assistant', 'toolResult'];

/** Its default does the same. */
const config: AgentLoopConfig = {
  model,
  convertToLlm: (messages: AgentMessage[]) =>
    messages.filter(({ role }) => MODEL_ROLES.includes(role)),
};

const subject: Subject = (plan) => {
  const stream = plannedStream(plan);
  return () => async (signal) => {
    const seen = { characters: 0, toolResults: 0 };
    const emit = (event: AgentEvent): void => {
      if (event.type === 'message_update') {
        const update = event.assistantMessageEvent;
        if (update.type === 'text_delta') seen.characters += update.delta.length;
      } else if (event.type === 'tool_execution_end' && !event.isError) {
        seen.toolResults += 1;
      }
    };
    const prompt: Message = { role: 'user', content: USER_INPUT, timestamp: 0 };
    const context = { systemPrompt: SYSTEM_PROMPT, messages: [], tools };
    await runAgentLoop([prompt], context, config, emit, signal, stream);
    return seen;
  };
};

/** Pushes into the package's own stream from an async function, as its providers do. */
function plannedStream(plan: Plan): StreamFn {
  return (_model, { messages }: Context) => {
    const stream = createAssistantMessageEventStream();
    const step = (messages.length - 1) / (1 + TOOL_NAMES.length);
    const source = step < plan.steps ? events(callEvents(step)) : replyEvents(plan);
    void (async () => {
      for await (const event of source) stream.push(event);
      stream.end();
    })();
    return stream;
  };
}

function callEvents(step: number): AssistantMessageEvent[] {
  const message = emptyMessage('toolUse');
  const calls = callsOf(step).map(({ id, name, args }) => ({
    type: 'toolCall' as const,
    id,
    name,
    arguments: args,
  }));
  message.content.push(...calls);
  return [
    { type: 'start', partial: message },
    ...calls.map((toolCall, contentIndex): AssistantMessageEvent => {
      return { type: 'toolcall_end', contentIndex, toolCall, partial: message };
    }),
    { type: 'done', reason: 'toolUse', message },
  ];
}

function replyEvents(plan: Plan): AsyncGenerator<AssistantMessageEvent> {
  const partial = emptyMessage('stop');
  const block = { type: 'text' as const, text: '' };
  partial.content.push(block);
  return replyDeltas<AssistantMessageEvent>(
    plan,
    (delta) => {
      block.text += delta;
      return { type: 'text_delta', contentIndex: 0, delta, partial };
    },
    [
      { type: 'start', partial },
      { type: 'text_start', contentIndex: 0, partial },
    ],
    () => [
      { type: 'text_end', contentIndex: 0, content: block.text, partial },
      { type: 'done', reason: 'stop', message: partial },
    ],
  );
}

function emptyMessage(stopReason: AssistantMessage['stopReason']): AssistantMessage {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  return {
    role: 'assistant',
    content: [],
    api: model.api,
    provider: model.provider,
    model: model.id,
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost },
    stopReason,
    timestamp: 0,
  };
}

serve(turnCases('turn', subject));
