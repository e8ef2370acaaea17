import { errorMessage } from '@celestea/agent-loop';
import type { SessionEvent } from '@celestea/core';
import { JsonlSessionLog, type OpenReport } from '@celestea/session';

import { kindAt } from './places.ts';
import { safeLine } from './safe-text.ts';

/** What a session's file holds. */
export interface ReadSession {
  readonly ok: true;
  readonly rows: readonly SessionEvent[];
  readonly report: OpenReport;
}

/** `log in` may have been meant as words. */
const ESCAPE = 'if it was a question, put -- before it';

/**
 * Reads a session around whatever is damaged in it, changes nothing, and does not mind that
 * somebody else writes it. Never rejects.
 */
export async function readSession(
  path: string,
): Promise<ReadSession | { readonly ok: false; readonly error: string }> {
  const shown = `"${safeLine(path, 400)}"`;
  try {
    const kind = kindAt(path);
    if (kind === 'nothing') return { ok: false, error: `${shown} does not exist; ${ESCAPE}` };
    if (kind !== 'file') return { ok: false, error: `${shown} is no file` };
    const log = await JsonlSessionLog.open(path, { readOnly: true, onDamage: 'skip' });
    const rows = log.events();
    await log.close();
    return { ok: true, rows, report: log.report };
  } catch (error) {
    return { ok: false, error: `${shown} cannot be read: ${errorMessage(error)}` };
  }
}
