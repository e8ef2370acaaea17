import { isRecord } from '@celestea/core';

import { RequestWait } from '../ai-sdk/request-wait.ts';
import { directFetch } from '../direct-fetch.ts';
import type { Endpoint } from './endpoints.ts';
import { isModelName } from './model-names.ts';
import { LlmSetupError } from './setup-error.ts';

/** The most milliseconds for a server to say which models it has. */
export const MODELS_WAIT_MS = 10_000;
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** What a server says that has no usable answer. */
class UnusableAnswer extends Error {}

/**
 * The first model a server has; one that only makes embeddings, when it has no other. Rejects
 * with an {@link LlmSetupError} when the server does not say, and with the signal's reason.
 *
 * @param limitMs milliseconds it may take, never more than {@link MODELS_WAIT_MS}; 0 for those
 */
export async function firstModel(
  endpoint: Endpoint,
  signal: AbortSignal | undefined,
  limitMs: number,
): Promise<string> {
  const milliseconds = limitMs === 0 ? MODELS_WAIT_MS : Math.min(limitMs, MODELS_WAIT_MS);
  const wait = new RequestWait(signal);
  try {
    return await wait.for(askForModel(endpoint, wait.signal), 'response', milliseconds);
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    const why = reasonText(error);
    const { url } = endpoint.baseURL;
    throw new LlmSetupError(`no model is named, and ${url}/models could not be asked: ${why}`);
  } finally {
    wait.stop(new UnusableAnswer('given up'));
  }
}

async function askForModel({ baseURL, apiKey }: Endpoint, signal: AbortSignal): Promise<string> {
  const bearer = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
  const headers = { accept: 'application/json', ...bearer, ...baseURL.headers };
  const response = await directFetch()(`${baseURL.url}/models`, { headers, signal });
  if (!response.ok) throw new UnusableAnswer(`HTTP status ${String(response.status)}`);
  const names = modelNames(await readText(response));
  const [first] = names;
  if (first === undefined) throw new UnusableAnswer('it has no models');
  return names.find((name) => !/embed/i.test(name)) ?? first;
}

async function readText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = '';
  const chunks: AsyncIterable<Uint8Array> = body ?? new Blob([]).stream();
  for await (const chunk of chunks) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw new UnusableAnswer('the answer is too long');
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function modelNames(text: string): string[] {
  const answer = parse(text);
  const models = isRecord(answer) ? answer['data'] : null;
  if (!Array.isArray(models)) throw new UnusableAnswer('the answer is no list of models');
  return models
    .map((model: unknown) => (isRecord(model) ? model['id'] : null))
    .filter((name) => isModelName(name));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** `fetch` says why in the cause, whose message may be empty. */
function reasonText(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer';
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return cause.message === '' && 'code' in cause ? String(cause.code) : cause.message;
}
