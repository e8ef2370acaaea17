import type {
  LanguageModelV3FilePart,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3ReasoningPart,
  LanguageModelV3TextPart,
  LanguageModelV3ToolCallPart,
  LanguageModelV3ToolResultPart,
} from '@ai-sdk/provider';
import {
  hasToolCalls,
  isRecord,
  messageImages,
  messageTexts,
  messageToolCalls,
  type Message,
  type ModelRequest,
  type ThinkingContent,
  type ToolCall,
} from '@celestea/core';

import { picturePart, type PictureSource } from './pictures.ts';
import { plainCallIds, plainToolName } from './plain-names.ts';
import { readProviderMeta } from './provider-meta.ts';

/** What a conversion needs besides the request. */
export interface PromptOptions {
  /** Whose signatures may go back. */
  readonly provider: string;
  readonly attachments: PictureSource;
}

type AssistantPart =
  LanguageModelV3TextPart | LanguageModelV3ReasoningPart | LanguageModelV3ToolCallPart;
type UserPart = LanguageModelV3TextPart | LanguageModelV3FilePart;

/** In place of words that providers refuse: there has to be something. */
const NO_WORDS = '(no words)';

/**
 * A request's messages as the AI SDK has them. System messages go first, where every provider
 * takes them; blank texts, which providers refuse, are left out; the pictures of tool results
 * follow the results in a user message, since most providers take them nowhere else.
 */
export async function promptOf(
  { system, messages }: ModelRequest,
  options: PromptOptions,
): Promise<LanguageModelV3Prompt> {
  const standing = messages.filter(({ role }) => role === 'system').flatMap(messageTexts);
  const prompt: LanguageModelV3Prompt = [system ?? '', ...standing]
    .filter((content) => content.trim() !== '')
    .map((content) => ({ role: 'system', content }));
  const conversation = new ConversationBuilder(messages, options);
  for (const message of messages) await conversation.add(message);
  return [...prompt, ...conversation.finish()];
}

class ConversationBuilder {
  readonly #options: PromptOptions;
  readonly #idOf: (id: string) => string;
  readonly #nameOf: ReadonlyMap<string, string>;
  readonly #prompt: LanguageModelV3Message[] = [];
  /** The answers of one step, which go out as one message. */
  #results: LanguageModelV3ToolResultPart[] = [];
  #pictures: UserPart[] = [];

  constructor(messages: readonly Message[], options: PromptOptions) {
    this.#options = options;
    this.#idOf = plainCallIds(messages);
    this.#nameOf = new Map(messages.flatMap(messageToolCalls).map(({ id, name }) => [id, name]));
  }

  async add(message: Message): Promise<void> {
    switch (message.role) {
      case 'system':
        return; // stands in front
      case 'user':
        this.#closeResults();
        this.#prompt.push({ role: 'user', content: await this.#userParts(message) });
        return;
      case 'assistant': {
        this.#closeResults();
        const content = this.#assistantParts(message);
        if (content.length > 0) this.#prompt.push({ role: 'assistant', content });
        return;
      }
      case 'tool':
        await this.#addResult(message);
        return;
      default:
        message.role satisfies never;
    }
  }

  finish(): LanguageModelV3Message[] {
    this.#closeResults();
    return this.#prompt;
  }

  async #userParts(message: Message): Promise<UserPart[]> {
    const parts = [...textParts(message), ...(await this.#pictureParts(message))];
    return parts.length > 0 ? parts : [{ type: 'text', text: NO_WORDS }];
  }

  #pictureParts(message: Message): Promise<UserPart[]> {
    const { attachments } = this.#options;
    return Promise.all(messageImages(message).map((ref) => picturePart(ref, attachments)));
  }

  #assistantParts(message: Message): AssistantPart[] {
    const parts: AssistantPart[] = [];
    for (const block of message.content) {
      if (block.type === 'thinking') parts.push(...this.#reasoning(block, hasToolCalls(message)));
      else if (block.type === 'tool_call') parts.push(this.#call(block.content));
      else if (block.type === 'text') parts.push(...textPart(block.content));
    }
    return parts;
  }

  /** Reasoning that is not signed is of use only beside calls, and only there goes back. */
  #reasoning({ content }: ThinkingContent, beside: boolean): LanguageModelV3ReasoningPart[] {
    const meta = readProviderMeta(content.meta, this.#options.provider);
    if (meta === null || (meta.metadata === undefined && !beside)) return [];
    const signed = meta.metadata === undefined ? {} : { providerOptions: meta.metadata };
    return [{ type: 'reasoning', text: content.text.toWellFormed(), ...signed }];
  }

  #call({ id, name, args, meta }: ToolCall): LanguageModelV3ToolCallPart {
    const signed = readProviderMeta(meta, this.#options.provider)?.metadata;
    return {
      type: 'tool-call',
      toolCallId: this.#idOf(id),
      toolName: plainToolName(name),
      // some providers refuse arguments that are no object
      input: isRecord(args) ? args : args === null ? {} : { arguments: args },
      ...(signed === undefined ? {} : { providerOptions: signed }),
    };
  }

  async #addResult(message: Message): Promise<void> {
    const id = message.tool_call_id ?? '';
    this.#results.push({
      type: 'tool-result',
      toolCallId: this.#idOf(id),
      toolName: plainToolName(this.#nameOf.get(id) ?? ''),
      output: { type: 'text', value: messageTexts(message).join('\n') },
    });
    this.#pictures.push(...(await this.#pictureParts(message)));
  }

  #closeResults(): void {
    if (this.#results.length > 0) this.#prompt.push({ role: 'tool', content: this.#results });
    if (this.#pictures.length > 0) {
      const words = { type: 'text' as const, text: 'The pictures of the tool results above:' };
      this.#prompt.push({ role: 'user', content: [words, ...this.#pictures] });
    }
    this.#results = [];
    this.#pictures = [];
  }
}

const textParts = (message: Message): LanguageModelV3TextPart[] =>
  messageTexts(message).flatMap(textPart);

const textPart = (text: string): LanguageModelV3TextPart[] =>
  text.trim() === '' ? [] : [{ type: 'text', text }];
