import { bodyReason, isErrorBody, parseBody } from './ai-sdk/provider-words.ts';
import { AnswerError } from './ai-sdk/answer-error.ts';
import { limitEvents } from './event-limit.ts';
import { ignore } from './hook.ts';

/** The most bytes, after decoding, that are read of an answer that is no stream. */
const MAX_BYTES = 1024 * 1024;

/** How a stream of events begins: with a field or a comment. */
const FIRST_LINE = /^\uFEFF?\s*(?:data|event|id|retry)?:/;

/**
 * The answer to a request for a stream, bounded: the body of a refusal ends after 1 MiB, and a
 * stream fails at an event of more than 16 MiB. Rejects with an {@link AnswerError} when a
 * success is no stream of events.
 */
export async function streamAnswer(response: Response): Promise<Response> {
  const { body, headers, ok } = response;
  if (body === null) return response;
  if (!ok) return new Response(cut(body), response);
  const [type = ''] = (headers.get('content-type') ?? '').toLowerCase().split(';', 1);
  if (type.trim() === '' || type.trim() === 'text/event-stream') {
    return new Response(limitEvents(body), response);
  }
  // servers and proxies that pass events on may call them otherwise
  const [head, whole] = body.tee();
  if (await beginsWithField(head)) return new Response(limitEvents(whole), response);
  throw answerError(type.trim(), await new Response(cut(whole)).text());
}

async function beginsWithField(body: ReadableStream<Uint8Array>): Promise<boolean> {
  const reader = body.getReader();
  const { value } = await reader.read();
  // ends only together with the other branch
  reader.cancel().catch(ignore);
  return FIRST_LINE.test(new TextDecoder('utf-8', { ignoreBOM: true }).decode(value));
}

function answerError(type: string, body: string): AnswerError {
  const parsed = parseBody(body);
  if (isErrorBody(parsed)) return new AnswerError('the provider answered with an error', parsed);
  const words = parsed === undefined ? bodyReason(body) : '';
  const said = words === '' ? '' : ` (${words})`;
  return new AnswerError(
    `the provider answered with ${type}, not an event stream; is the base URL right?${said}`,
  );
}

/** A body that ends after so many bytes at the latest. */
function cut(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  let left = MAX_BYTES;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (piece, controller) => {
        controller.enqueue(piece.subarray(0, left));
        left -= piece.byteLength;
        if (left <= 0) controller.terminate();
      },
    }),
  );
}
