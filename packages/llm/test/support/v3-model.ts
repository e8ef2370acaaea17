import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3FinishReason,
  LanguageModelV3StreamPart,
  LanguageModelV3Usage,
} from '@ai-sdk/provider';
import type { ModelRequest, StreamEvent } from '@celestea/core';

/** What a scripted model's stream does: gives a part, throws, or waits for ever. */
export type ScriptStep =
  LanguageModelV3StreamPart | { type: 'throw'; error: unknown } | { type: 'hang' };

/** A scripted `LanguageModelV3` and what it was asked. */
export interface ScriptedModel {
  readonly model: LanguageModelV3;
  readonly asked: LanguageModelV3CallOptions[];
  /** How many streams were cancelled by their reader. */
  readonly cancelled: () => number;
  /** How many streams are neither over nor cancelled. */
  readonly open: () => number;
}

export function scriptedModel(steps: readonly ScriptStep[], provider = 'test.chat'): ScriptedModel {
  const asked: LanguageModelV3CallOptions[] = [];
  let cancelled = 0;
  let open = 0;
  const model: LanguageModelV3 = {
    specificationVersion: 'v3',
    provider,
    modelId: 'scripted',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('not used')),
    doStream: (options) => {
      asked.push(options);
      const left = [...steps];
      open += 1;
      const stream = new ReadableStream<LanguageModelV3StreamPart>({
        pull: (controller) => {
          const step = left.shift();
          if (step === undefined || step.type === 'throw') open -= 1;
          if (step === undefined) controller.close();
          else if (step.type === 'throw') controller.error(step.error);
          else if (step.type === 'hang') return new Promise<void>(() => undefined);
          else controller.enqueue(step);
          return undefined;
        },
        cancel: () => {
          cancelled += 1;
          open -= 1;
        },
      });
      return Promise.resolve({ stream });
    },
  };
  return { model, asked, cancelled: () => cancelled, open: () => open };
}

export const text = (delta: string, id = 't'): LanguageModelV3StreamPart => ({
  type: 'text-delta',
  id,
  delta,
});

export const usageOf = (input?: number, output?: number): LanguageModelV3Usage => ({
  inputTokens: { total: input, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: output, text: undefined, reasoning: undefined },
});

export const finish = (
  unified: LanguageModelV3FinishReason['unified'] = 'stop',
  raw: string | undefined = unified,
  usage: LanguageModelV3Usage = usageOf(),
): LanguageModelV3StreamPart => ({ type: 'finish', finishReason: { unified, raw }, usage });

/** How some adapters close a stream that broke off. */
export const finishWithoutReason: LanguageModelV3StreamPart = {
  type: 'finish',
  finishReason: { unified: 'other', raw: undefined },
  usage: usageOf(),
};

export const call = (id: string, input: string, more = {}): LanguageModelV3StreamPart => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: 'look',
  input,
  ...more,
});

export const requestOf = (overrides: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'any',
  system: null,
  messages: [{ role: 'user', content: [{ type: 'text', content: 'Hello?' }], tool_call_id: null }],
  tools: [],
  max_tokens: null,
  temperature: null,
  ...overrides,
});

/** Everything a stream gave, and what it threw. */
export async function collect(
  stream: AsyncIterable<StreamEvent>,
): Promise<{ events: StreamEvent[]; thrown: unknown }> {
  const events: StreamEvent[] = [];
  try {
    for await (const event of stream) events.push(event);
    return { events, thrown: null };
  } catch (error) {
    return { events, thrown: error };
  }
}
