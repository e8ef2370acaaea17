import type { LanguageModelV3, LanguageModelV3CallOptions } from '@ai-sdk/provider';
import {
  describeValue,
  isRecord,
  LlmError,
  type GenerateOptions,
  type Llm,
  type LlmStream,
  type ModelRequest,
} from '@celestea/core';

import { ignore } from '../hook.ts';
import { checkAiSdkOptions, type AiSdkLlmOptions, type CheckedOptions } from './ai-sdk-options.ts';
import { llmFailure } from './llm-failure.ts';
import { PartStream } from './part-stream.ts';
import { promptOf } from './prompt.ts';
import { ReplyTranslator } from './reply-parts.ts';
import { RequestWait } from './request-wait.ts';
import { redactor, type Redact } from './secrets.ts';

/** A model of the AI SDK, or what gives the one for a request's `model`. */
export type AiSdkModel =
  LanguageModelV3 | ((model: string) => LanguageModelV3 | Promise<LanguageModelV3>);

/**
 * Any model of the AI SDK (`LanguageModelV3`) as an {@link Llm}: messages, pictures, tool calls,
 * signed reasoning both ways (X10), usage once a reply, finish reasons (X8), abort. A model
 * answers whatever `model` the request names; a function is asked for the one of that name.
 *
 * It fails with an {@link LlmError} that says the HTTP status, whether trying again may help and
 * which wait ran out; and with the signal's reason when that aborts. A stream that tears fails,
 * and none of its calls are told. It never tries again by itself.
 *
 * @throws TypeError naming the option that is not what it should be
 * @example
 * const llm = aiSdkLlm(createAnthropic({ apiKey })('claude-sonnet-4-5'), { secrets: [apiKey] });
 */
export function aiSdkLlm(model: AiSdkModel, options: AiSdkLlmOptions = {}): Llm {
  if (typeof model !== 'function' && !isLanguageModel(model)) {
    const expected = 'a LanguageModelV3 of the AI SDK, or a function that gives one';
    throw new TypeError(`model: expected ${expected}, got ${describeModel(model)}`);
  }
  return new AiSdkLlm(model, checkAiSdkOptions(options));
}

class AiSdkLlm implements Llm {
  readonly #model: AiSdkModel;
  readonly #options: CheckedOptions;
  readonly #redact: Redact;

  constructor(model: AiSdkModel, options: CheckedOptions) {
    this.#model = model;
    this.#options = options;
    this.#redact = redactor(options.secrets);
  }

  async generate(request: ModelRequest, { signal }: GenerateOptions = {}): Promise<LlmStream> {
    const wait = new RequestWait(signal);
    const asked = this.#ask(request, wait);
    try {
      return await wait.for(asked, 'response', this.#options.responseMs);
    } catch (failure) {
      wait.stop(failure);
      asked.then(close, ignore);
      throw wait.reasonFor(failure, (error) => llmFailure(error, 'generate', this.#redact));
    }
  }

  async #ask(request: ModelRequest, wait: RequestWait): Promise<PartStream> {
    const { messages, model: name } = request;
    if (messages.length === 0) throw new LlmError('the request has no message to answer');
    const model = typeof this.#model === 'function' ? await this.#model(name) : this.#model;
    const { attachments, idleMs, providerOptions, returnReasoning } = this.#options;
    const provider = this.#options.signer ?? model.provider;
    const prompt = await promptOf(request, { provider, attachments });
    // pictures are read meanwhile, whoever still wants the answer
    wait.signal.throwIfAborted();
    const { stream } = await model.doStream({
      prompt,
      abortSignal: wait.signal,
      ...settingsOf(request),
      ...(providerOptions === undefined ? {} : { providerOptions }),
    });
    const failure = (error: unknown): LlmError => llmFailure(error, 'stream', this.#redact);
    const translator = new ReplyTranslator({ provider, returnReasoning, failure });
    return new PartStream({ stream, wait, translator, idleMs, failure });
  }
}

/** A stream that comes when nobody waits for it any more. */
function close(stream: PartStream): void {
  void stream.return();
}

/** What of a request is neither a message nor a setting of ours; `null` leaves it to the provider. */
function settingsOf({
  max_tokens,
  temperature,
  tools,
}: ModelRequest): Partial<LanguageModelV3CallOptions> {
  return {
    ...(max_tokens === null ? {} : { maxOutputTokens: max_tokens }),
    ...(temperature === null ? {} : { temperature }),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, parameters }) => ({
            type: 'function' as const,
            name,
            description,
            inputSchema: parameters,
          })),
          toolChoice: { type: 'auto' as const },
        }),
  };
}

function isLanguageModel(value: unknown): value is LanguageModelV3 {
  return (
    isRecord(value) &&
    value['specificationVersion'] === 'v3' &&
    typeof value['doStream'] === 'function'
  );
}

/** The version is said: a model of another one looks much the same. */
function describeModel(value: unknown): string {
  const version = isRecord(value) ? value['specificationVersion'] : undefined;
  return typeof version === 'string'
    ? `a model of the specification ${JSON.stringify(version)}`
    : describeValue(value);
}
