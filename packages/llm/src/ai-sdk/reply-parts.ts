import type {
  LanguageModelV3StreamPart,
  LanguageModelV3ToolCall,
  LanguageModelV3Usage,
  SharedV3ProviderMetadata,
} from '@ai-sdk/provider';
import {
  usageIsEmpty,
  type Content,
  type LlmError,
  type StreamEvent,
  type ToolCall,
  type Usage,
} from '@celestea/core';

import { checkEnd, finishOf, tornError } from './finish-reason.ts';
import { mergeMetadata, type ProviderMeta } from './provider-meta.ts';
import { givenId, withoutRepeats } from './repeated-calls.ts';

type Finish = Extract<LanguageModelV3StreamPart, { type: 'finish' }>;

/** What a translation needs to know of the model. */
export interface ReplyOptions {
  readonly provider: string;
  readonly returnReasoning: boolean;
  /** Gives a provider's error its class. */
  readonly failure: (error: unknown) => LlmError;
}

/**
 * Makes the parts of one reply events (C2.2). Calls are told only by the `done` at its very
 * end: a stream that tears gives none, however complete they looked.
 */
export class ReplyTranslator {
  readonly #options: ReplyOptions;
  readonly #calls: LanguageModelV3ToolCall[] = [];
  /** What was said of each block of reasoning that has not ended. */
  readonly #reasoning = new Map<string, SharedV3ProviderMetadata | undefined>();
  /** Calls whose arguments began to come, and that have not come as a whole. */
  readonly #begun: Set<string> = new Set<string>();
  #text = '';
  #error: LlmError | null = null;

  constructor(options: ReplyOptions) {
    this.#options = options;
  }

  /** The error that the provider told, if it did. */
  get error(): LlmError | null {
    return this.#error;
  }

  /** Takes one part; a `finish` gives what it came to. */
  take(part: LanguageModelV3StreamPart): StreamEvent[] {
    switch (part.type) {
      case 'text-delta':
        return this.#addText(part.delta);
      case 'reasoning-start':
        this.#reasoning.set(part.id, part.providerMetadata);
        return [];
      case 'reasoning-delta':
        return this.#addReasoning(part.id, part.delta, part.providerMetadata);
      case 'reasoning-end':
        return this.#endReasoning(part.id, part.providerMetadata);
      case 'tool-call':
        // what the provider runs itself it also answers itself
        if (part.providerExecuted !== true) this.#calls.push(part);
        this.#begun.delete(part.toolCallId);
        return [];
      case 'tool-input-start':
        this.#begun.add(part.id);
        return [];
      case 'error':
        // not the end: what the request cost comes behind it
        this.#error ??= this.#options.failure(part.error);
        return [];
      case 'finish':
        return this.#usageEvents(part.usage);
      case 'text-start':
      case 'text-end':
      case 'tool-input-delta':
      case 'tool-input-end':
      case 'tool-approval-request':
      case 'tool-result':
      case 'file':
      case 'source':
      case 'stream-start':
      case 'response-metadata':
      case 'raw':
        return [];
      default:
        part satisfies never;
        return []; // a kind of a later version
    }
  }

  /**
   * What the reply came to, once its `finish` was taken.
   *
   * @throws LlmError (`stream`) when the reply is torn, or its provider says that it failed.
   */
  done({ finishReason }: Finish): StreamEvent[] {
    if (this.#error !== null) throw this.#error;
    const calls = withoutRepeats(this.#calls).map((call) => this.#readCall(call));
    if (this.#begun.size > 0 && finishReason.unified !== 'length') {
      throw tornError('the reply of the model ended inside a tool call');
    }
    checkEnd(finishReason, calls.length > 0);
    const open = [...this.#reasoning.keys()].flatMap((id) => this.#endReasoning(id, undefined));
    const words: Content[] = this.#text === '' ? [] : [{ type: 'text', content: this.#text }];
    const blocks = calls.map((call): Content => ({ type: 'tool_call', content: call }));
    const content = [...words, ...blocks];
    const message = { role: 'assistant' as const, content, tool_call_id: null };
    return [...open, { kind: 'done', message, finish: finishOf(finishReason) }];
  }

  /** Why a stream that is over without a `finish` failed. */
  torn(): LlmError {
    return this.#error ?? tornError('the stream of the model ended before the reply did');
  }

  #addText(text: string): StreamEvent[] {
    this.#text += text;
    return text === '' ? [] : [{ kind: 'text', text }];
  }

  #addReasoning(
    id: string,
    text: string,
    metadata: SharedV3ProviderMetadata | undefined,
  ): StreamEvent[] {
    this.#reasoning.set(id, mergeMetadata(this.#reasoning.get(id), metadata));
    return text === '' ? [] : [{ kind: 'thinking', text }];
  }

  #endReasoning(id: string, added: SharedV3ProviderMetadata | undefined): StreamEvent[] {
    const metadata = mergeMetadata(this.#reasoning.get(id), added);
    this.#reasoning.delete(id);
    const { provider, returnReasoning } = this.#options;
    if (metadata === undefined && !returnReasoning) return [];
    return [{ kind: 'thinking', text: '', meta: metaOf(provider, metadata) }];
  }

  #readCall({ toolCallId, toolName, input, providerMetadata }: LanguageModelV3ToolCall): ToolCall {
    const call: ToolCall = { id: givenId(toolCallId), name: toolName, args: readInput(input) };
    if (providerMetadata !== undefined)
      call.meta = metaOf(this.#options.provider, providerMetadata);
    return call;
  }

  #usageEvents(reported: LanguageModelV3Usage): StreamEvent[] {
    const usage = usageOf(reported);
    return usageIsEmpty(usage) ? [] : [{ kind: 'usage', usage }];
  }
}

const metaOf = (provider: string, metadata: SharedV3ProviderMetadata | undefined): ProviderMeta =>
  metadata === undefined ? { provider } : { provider, metadata };

/** Arguments that are no JSON stay a text: the registry refuses it, and the model may try again. */
function readInput(input: string): unknown {
  if (input.trim() === '') return {};
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

function usageOf({ inputTokens, outputTokens }: LanguageModelV3Usage): Usage {
  const prompt_tokens = count(inputTokens.total);
  const completion_tokens = count(outputTokens.total);
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    cache_read: count(inputTokens.cacheRead),
    reasoning_tokens: count(outputTokens.reasoning),
  };
}

/** A number of tokens; a provider that does not say is taken for none. */
const count = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.trunc(value) : 0;
