import type { Diagnostic } from '@celestea/agent-loop';
import { LlmError, messageImages, type SessionLog } from '@celestea/core';

const ADVICE =
  'the model refuses the pictures of this session; --no-images tells it of them in words';

/** How servers speak of what they do not take, `image_url` included. */
const NAMES_PICTURES = /\bimage|\bpicture|\bvision\b|multi-?modal/i;

/**
 * What helps when a server has refused a request because of its pictures, which would be sent
 * with every later turn of the session again; `null` when it failed for another reason.
 */
export function pictureAdvice(
  { kind, error }: Diagnostic,
  log: Pick<SessionLog, 'deriveMessages'>,
): string | null {
  if (kind !== 'model_failed' || !(error instanceof LlmError)) return null;
  // some servers refuse with a status of their own failure
  if (error.httpStatus === null || !NAMES_PICTURES.test(error.message)) return null;
  return log.deriveMessages().some((message) => messageImages(message).length > 0) ? ADVICE : null;
}
