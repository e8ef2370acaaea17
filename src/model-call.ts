import type { ModelRequest } from '@celestea/core';

import { ReplyReader, type Reply } from './reply.ts';
import { readStream } from './stream.ts';
import { activeLimit, WaitLimit } from './timeouts.ts';
import type { Turn } from './turn.ts';

/**
 * Asks the model and reads its reply. Whatever the model does wrong is in the reply (L2.6);
 * only a log that breaks meanwhile throws.
 */
export async function callModel(turn: Turn, request: ModelRequest): Promise<Reply> {
  const idleMs = activeLimit(turn.options.timeouts?.streamIdleMs);
  const wait = idleMs === null ? null : new WaitLimit(turn.cancellation, idleMs);
  const cancellation = wait ?? turn.cancellation;
  const reader = new ReplyReader(turn);
  try {
    const open = (): unknown => turn.seams.llm.generate(request, cancellation.options);
    const end = await readStream(open, cancellation, reader.take, turn.breather, wait);
    return reader.ended(end, wait);
  } finally {
    wait?.stop();
  }
}
