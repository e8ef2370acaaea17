import { resolve } from 'node:path';

import { errorMessage } from '@celestea/agent-loop';
import { assertLogValid, LogRuleError } from '@celestea/agent-loop/check';
import { serializeSessionEvent, type SessionEvent } from '@celestea/core';
import {
  JsonlSessionLog,
  sessionLogHolder,
  type LogHolding,
  type OpenReport,
} from '@celestea/session';

import { EXIT, failed, Refusal, remark, type ExitCode } from './exit.ts';
import type { CliIo } from './io.ts';
import type { Options } from './options.ts';
import { kindAt, pathFrom, typedInFolder } from './places.ts';
import { SessionPrinter } from './session-printer.ts';
import { styleOf } from './style.ts';
import { formatBytes, formatCount, quoted, safeJson, safeLine, safeText } from './text.ts';

/**
 * Prints a session on `io.stdout`, and says on `io.stderr` what could not be read of it. The
 * code is 1 when there is nothing to read.
 */
export async function runLog(file: string, { json }: Options, io: CliIo): Promise<ExitCode> {
  const { rows, report } = await readSession('log', resolve(typedInFolder(io), file));
  for (const line of damageLines(report)) remark(io, `skipped ${line}`);
  if (report.tornBytes > 0) {
    remark(io, `skipped a torn end, ${formatBytes(report.tornBytes)}`);
  }
  if (json) {
    for (const row of rows) io.stdout.write(`${safeJson(serializeSessionEvent(row))}\n`);
    return EXIT.completed;
  }
  const printer = new SessionPrinter((text) => io.stdout.write(text), styleOf(io));
  for (const row of rows) printer.print(row);
  printer.end();
  return EXIT.completed;
}

/** One thing that is said of a session. */
interface Finding {
  readonly name: string;
  readonly text: string;
  /** Whether it is out of order. */
  readonly isFault: boolean;
}

/**
 * Says what is wrong with a session without changing a byte of it. The code is 0 when nothing
 * is.
 */
export async function runCheck(file: string, io: CliIo): Promise<ExitCode> {
  const typedIn = typedInFolder(io);
  const path = resolve(typedIn, file);
  // Asked first: what is unfinished then is at work when somebody writes, and else left over.
  const holding: LogHolding = kindAt(path) === 'a file' ? sessionLogHolder(path) : { held: false };
  const read = await readSession('check', path);
  const { dim, red, green } = styleOf(io);
  io.stdout.write(`${dim(safeLine(pathFrom(typedIn, path), 400))}\n`);
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
  const { tornBytes, interruptedTurn } = report;
  const turns = rows.filter(({ type }) => type === 'turn_start').length;
  const fact = (name: string, text: string): Finding => ({ name, text, isFault: false });
  const fault = (name: string, text: string): Finding => ({ name, text, isFault: true });
  /** What somebody who has the session open is about to finish. */
  const unfinished = (name: string, what: string, now: string, later: string): Finding =>
    holding.held ? fact(name, `${what}, ${now}`) : fault(name, `${what}; ${later}`);
  const damage = damageLines(report).map((line) => fault('damage', line));
  const torn = formatBytes(tornBytes);
  const broken = brokenRule(rows, interruptedTurn !== null);
  return [
    fact('rows', String(rows.length)),
    fact('turns', String(turns)),
    ...(damage.length === 0 ? [fact('damage', 'none')] : damage),
    tornBytes === 0
      ? fact('torn end', 'none')
      : unfinished('torn end', torn, 'being written', 'cut off when the session goes on'),
    interruptedTurn === null
      ? fact('open turn', 'none')
      : unfinished('open turn', interruptedTurn, 'running', 'closed when the session goes on'),
    fact('open elsewhere', holderText(holding)),
    broken === null ? fact('rules', 'kept') : fault('rules', broken),
  ];
}

function holderText(holding: LogHolding): string {
  if (!holding.held) return 'no';
  if (holding.holder === null) return 'by somebody: its lock file cannot be read';
  const { pid, host, since } = holding.holder;
  return `by process ${String(pid)} on ${host} since ${since}`;
}

/** The rule that is broken; an open turn is a finding of its own. */
function brokenRule(rows: readonly SessionEvent[], openTurn: boolean): string | null {
  try {
    assertLogValid(rows, { openTurn });
    return null;
  } catch (error) {
    if (error instanceof LogRuleError) return safeLine(error.message, 400);
    throw error;
  }
}

/** What a session's file holds. */
interface ReadSession {
  readonly rows: readonly SessionEvent[];
  readonly report: OpenReport;
}

/**
 * Reads a session around whatever is damaged in it, changes nothing, and does not mind that
 * somebody else writes it. Rejects with a {@link Refusal}.
 */
async function readSession(command: string, path: string): Promise<ReadSession> {
  const refusal = (problem: string): Refusal => failed(`${command}: ${quoted(path)} ${problem}`);
  try {
    const kind = kindAt(path);
    if (kind === 'nothing') {
      throw refusal('does not exist; if it was a question, put -- before it'); // `log in`
    }
    if (kind !== 'a file') throw refusal('is no file');
    const log = await JsonlSessionLog.open(path, { readOnly: true, onDamage: 'skip' });
    const rows = log.events();
    await log.close();
    return { rows, report: log.report };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw refusal(`cannot be read: ${errorMessage(error)}`);
  }
}

const MOST_LINES = 20;

/** A line for each damaged line of a session, up to a bound. */
function damageLines({ skipped }: OpenReport): string[] {
  const lines = skipped.slice(0, MOST_LINES).map(({ line, offset, bytes, reason }) => {
    const where = `line ${String(line)}, at byte ${String(offset)}, ${formatBytes(bytes)}`;
    return `${where}: ${safeLine(reason, 200)}`;
  });
  const rest = skipped.length - lines.length;
  return rest === 0 ? lines : [...lines, `${formatCount(rest, 'damaged line')} more`];
}
