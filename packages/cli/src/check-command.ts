import { resolve } from 'node:path';

import { errorMessage } from '@celestea/agent-loop';
import { assertLogValid, LogRuleError } from '@celestea/agent-loop/check';
import type { SessionEvent } from '@celestea/core';
import { sessionLogHolder, type LogHolding } from '@celestea/session';

import type { CheckCommand } from './args.ts';
import { complain } from './complain.ts';
import { damageLines } from './damage.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { formatBytes } from './format.ts';
import type { CliIo } from './io.ts';
import { kindAt, pathFrom, typedInFolder } from './places.ts';
import { readSession, type ReadSession } from './read-session.ts';
import { safeLine, safeText } from './safe-text.ts';
import { createStyle, wantsColours } from './style.ts';

/** One thing that is said of a session. */
interface Finding {
  readonly name: string;
  readonly text: string;
  /** Whether it is out of order. */
  readonly isFault: boolean;
}

const LONGEST_RULE = 400;

/**
 * Says what is wrong with a session without changing a byte of it. The code is 0 when nothing
 * is.
 */
export async function runCheck({ file }: CheckCommand, io: CliIo): Promise<ExitCode> {
  const typedIn = typedInFolder(io);
  const path = resolve(typedIn, file);
  // Asked first: what is unfinished then is at work when somebody writes, and else left over.
  const holding: LogHolding = kindAt(path) === 'file' ? sessionLogHolder(path) : { held: false };
  const read = await readSession(path);
  if (!read.ok) {
    complain(io.stderr, `check: ${read.error}`);
    return EXIT.failed;
  }
  const { dim, red, green } = createStyle(wantsColours(io));
  io.stdout.write(`${dim(safeLine(pathFrom(typedIn, path), LONGEST_RULE))}\n`);
  const findings = findingsOf(read, holding);
  for (const { name, text, isFault } of findings) {
    const shown = safeText(text);
    io.stdout.write(`${`${name}:`.padEnd(16)}${isFault ? red(shown) : shown}\n`);
  }
  const isFaulty = findings.some(({ isFault }) => isFault);
  io.stdout.write(isFaulty ? `${red('not in order')}\n` : `${green('in order')}\n`);
  return isFaulty ? EXIT.failed : EXIT.completed;
}

function findingsOf({ rows, report }: ReadSession, holding: LogHolding): Finding[] {
  const turns = rows.filter(({ type }) => type === 'turn_start').length;
  const isWritten = holding.held;
  const { skipped, tornBytes, interruptedTurn } = report;
  const fact = (name: string, text: string, isFault = false): Finding => ({ name, text, isFault });
  return [
    fact('rows', String(rows.length)),
    fact('turns', String(turns)),
    ...(skipped.length === 0
      ? [fact('damage', 'none')]
      : damageLines(skipped).map((line) => fact('damage', line, true))),
    tornBytes === 0
      ? fact('torn end', 'none')
      : fact('torn end', tornText(tornBytes, isWritten), !isWritten),
    interruptedTurn === null
      ? fact('open turn', 'none')
      : fact('open turn', openTurnText(interruptedTurn, isWritten), !isWritten),
    fact('open elsewhere', holderText(holding)),
    ruleFinding(rows, interruptedTurn !== null),
  ];
}

function tornText(bytes: number, isWritten: boolean): string {
  const size = formatBytes(bytes);
  return isWritten ? `${size}, being written` : `${size}; cut off when the session goes on`;
}

function openTurnText(turn: string, isWritten: boolean): string {
  return isWritten ? `${turn}, running` : `${turn}; closed when the session goes on`;
}

function holderText(holding: LogHolding): string {
  if (!holding.held) return 'no';
  if (holding.holder === null) return 'by somebody: its lock file cannot be read';
  const { pid, host, since } = holding.holder;
  return `by process ${String(pid)} on ${host} since ${since}`;
}

/** An open turn is a finding of its own. */
function ruleFinding(rows: readonly SessionEvent[], openTurn: boolean): Finding {
  const name = 'rules';
  try {
    assertLogValid(rows, { openTurn });
    return { name, text: 'kept', isFault: false };
  } catch (error) {
    if (!(error instanceof LogRuleError)) throw error;
    return { name, text: safeLine(errorMessage(error), LONGEST_RULE), isFault: true };
  }
}
