import { resolve } from 'node:path';

import { serializeSessionEvent } from '@celestea/core';

import type { LogCommand } from './args.ts';
import { complain, remark } from './complain.ts';
import { damageLines } from './damage.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { formatBytes } from './format.ts';
import type { CliIo } from './io.ts';
import { typedInFolder } from './places.ts';
import { readSession } from './read-session.ts';
import { safeJson } from './safe-text.ts';
import { SessionPrinter } from './session-printer.ts';
import { createStyle, wantsColours } from './style.ts';

/**
 * Prints a session on `io.stdout`, and says on `io.stderr` what could not be read of it. The
 * code is 1 when there is nothing to read.
 */
export async function runLog({ file, json }: LogCommand, io: CliIo): Promise<ExitCode> {
  const read = await readSession(resolve(typedInFolder(io), file));
  if (!read.ok) {
    complain(io.stderr, `log: ${read.error}`);
    return EXIT.failed;
  }
  const { rows, report } = read;
  for (const line of damageLines(report.skipped)) remark(io, `skipped ${line}`);
  if (report.tornBytes > 0) {
    remark(io, `skipped a torn end, ${formatBytes(report.tornBytes)}`);
  }
  if (json) {
    for (const row of rows) io.stdout.write(`${safeJson(serializeSessionEvent(row))}\n`);
    return EXIT.completed;
  }
  const printer = new SessionPrinter({
    write: (text) => io.stdout.write(text),
    style: createStyle(wantsColours(io)),
  });
  for (const row of rows) printer.print(row);
  printer.end();
  return EXIT.completed;
}
