import { MAX_MESSAGE_BYTES } from './limits.ts';

/** Whether a response is a stream of server-sent events. */
export function isEventStream(response: Response): boolean {
  const type = response.headers.get('content-type') ?? '';
  return type.split(';', 1)[0]?.trim().toLowerCase() === 'text/event-stream';
}

/**
 * A body that breaks off when it, or one event of it, is too large, and says when it has ended,
 * broken off or been let go.
 */
export function watchBody(
  body: ReadableStream<Uint8Array>,
  events: boolean,
  onEnd: () => void,
): { body: ReadableStream<Uint8Array>; cancel: () => void } {
  const reader = body.getReader();
  let size = 0;
  const cancel = (): void => {
    reader.cancel().catch(() => undefined);
  };
  const watched = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          onEnd();
          return;
        }
        size = events && endsEvent(value) ? value.length : size + value.length;
        if (size > MAX_MESSAGE_BYTES) {
          cancel();
          throw new Error(`a message of more than ${String(MAX_MESSAGE_BYTES)} bytes`);
        }
        controller.enqueue(value);
      } catch (error) {
        controller.error(error);
        onEnd();
      }
    },
    cancel() {
      cancel();
      onEnd();
    },
  });
  return { body: watched, cancel };
}

const LF = 0x0a;
const CR = 0x0d;

/** Whether an empty line, which ends an event, stands in a chunk. */
function endsEvent(chunk: Uint8Array): boolean {
  for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) {
    const next = chunk[at + 1] === CR ? chunk[at + 2] : chunk[at + 1];
    if (next === LF) return true;
  }
  return false;
}
