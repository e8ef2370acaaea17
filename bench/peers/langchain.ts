import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessageChunk, HumanMessage, type BaseMessage } from '@langchain/core/messages';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';
import { createAgent, tool } from 'langchain';
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

const tools = TOOL_NAMES.map((name) =>
  tool(({ n }) => compute(name, n), {
    name,
    description: toolDescription(name),
    schema: z.object({ n: z.number() }),
  }),
);

const subject: Subject = (plan) => {
  const model = new PlannedChatModel(plan);
  const agent = createAgent({ model, tools, systemPrompt: SYSTEM_PROMPT });
  return () => async (signal) => {
    const seen = { characters: 0, toolResults: 0 };
    const stream = await agent.stream(
      { messages: [new HumanMessage(USER_INPUT)] },
      { streamMode: 'messages', signal, recursionLimit: 2 * plan.steps + 10 },
    );
    for await (const [message] of stream) {
      if (message.type === 'tool') seen.toolResults += 1;
      else if (message.type === 'ai') seen.characters += message.text.length;
    }
    return seen;
  };
};

class PlannedChatModel extends BaseChatModel {
  readonly #plan: Plan;

  constructor(plan: Plan) {
    super({});
    this.#plan = plan;
  }

  override _llmType(): string {
    return 'planned';
  }

  override bindTools(): this {
    return this;
  }

  override _generate(): Promise<ChatResult> {
    return Promise.reject(new Error('not used'));
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const step = (messages.length - 2) / (1 + TOOL_NAMES.length);
    const source =
      step < this.#plan.steps ? events([callChunk(step)]) : replyDeltas(this.#plan, textChunk);
    for await (const chunk of source) {
      yield chunk;
      const none = [undefined, undefined, undefined, undefined] as const;
      await runManager?.handleLLMNewToken(chunk.text, ...none, { chunk });
    }
  }
}

const textChunk = (text: string): ChatGenerationChunk =>
  new ChatGenerationChunk({ text, message: new AIMessageChunk({ content: text }) });

function callChunk(step: number): ChatGenerationChunk {
  const tool_call_chunks = callsOf(step).map(({ id, name, args }, index) => ({
    type: 'tool_call_chunk' as const,
    index,
    id,
    name,
    args: JSON.stringify(args),
  }));
  const message = new AIMessageChunk({ content: '', tool_call_chunks });
  return new ChatGenerationChunk({ text: '', message });
}

serve(turnCases('turn', subject));
