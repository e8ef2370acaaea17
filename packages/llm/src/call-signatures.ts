import type {
  LanguageModelV3,
  LanguageModelV3Message,
  LanguageModelV3ToolCallPart,
} from '@ai-sdk/provider';

/**
 * A chat completions model that sends the signatures of its calls back (X10). The adapter gives
 * them under the server's own name, but sends only those that stand under Google's, whose models
 * sign calls, whichever server they are behind.
 */
export function returnCallSignatures(model: LanguageModelV3): LanguageModelV3 {
  const { specificationVersion, provider, modelId, supportedUrls } = model;
  return {
    specificationVersion,
    provider,
    modelId,
    supportedUrls,
    doGenerate: (options) =>
      model.doGenerate({ ...options, prompt: options.prompt.map(signedMessage) }),
    doStream: (options) =>
      model.doStream({ ...options, prompt: options.prompt.map(signedMessage) }),
  };
}

function signedMessage(message: LanguageModelV3Message): LanguageModelV3Message {
  if (message.role !== 'assistant') return message;
  const content = message.content.map((part) => (part.type === 'tool-call' ? signed(part) : part));
  return { ...message, content };
}

function signed(call: LanguageModelV3ToolCallPart): LanguageModelV3ToolCallPart {
  const thoughtSignature = Object.values(call.providerOptions ?? {})
    .map((own) => own['thoughtSignature'])
    .find((signature) => typeof signature === 'string');
  // the adapter would put all else of it beside the call, in a place of its own
  return thoughtSignature === undefined
    ? call
    : { ...call, providerOptions: { google: { thoughtSignature } } };
}
