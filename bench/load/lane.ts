import type { Checks } from './checks.ts';
import type { Measurement, Verdict } from './protocol.ts';
import { firstWave, QUEUED_BYTES, shortWave, type LoadSettings } from './settings.ts';
import type { Stage } from './stage.ts';

/** What a wave of turns took. */
export interface LaneFigures {
  /** Readers that stopped reading. */
  readonly stalled: number;
  /** From the first request to the end of the last turn of a live reader, in milliseconds. */
  readonly ms: number;
  /** What readers say of their turns. */
  readonly verdicts: readonly Verdict[];
  readonly before: Measurement;
  /** When all turns are over and nobody has left. */
  readonly atRest: Measurement;
  /** When all readers have left. */
  readonly after: Measurement;
}

/** The head of a chunk, its end, and what a response holds besides. */
const CHUNK_FRAME_BYTES = 1024;
/** Of buffers that have nothing to do with how many readers there are. */
const OTHER_BUFFERS_BYTES = 8 * 1024 * 1024;

/** All sessions have a turn at the same time, while some readers do not read. */
export async function runLane(
  stage: Stage,
  settings: LoadSettings,
  stalled: number,
  checks: Checks,
): Promise<LaneFigures> {
  const name = `${String(stalled)} stalled`;
  const before = await stage.measure();
  await stage.createSessions();
  await stage.follow(stalled);
  const plans = firstWave(settings, 1);
  const start = performance.now();
  await stage.start(plans);
  checks.note(`${name}: ${String(plans.length)} turns run`);
  const verdicts = await stage.verdicts(plans);
  const ms = performance.now() - start;
  checkVerdicts(`${name}: live readers got each event once and in order`, verdicts, checks);
  checks.same(
    `${name}: every live reader followed its turn to the end`,
    new Set(verdicts.map(({ index }) => index)).size,
    settings.readers - stalled,
  );
  await stage.untilIdle(plans);
  const atRest = await stage.measure();
  if (stalled > 0) {
    checkBounds(before, atRest, stalled, checks);
    await runResumed(stage, settings, stalled, checks);
  }
  const after = await stage.leave(before.sockets);
  checks.atMost(`${name}: sockets come back to what they were`, after.sockets, before.sockets);
  checks.atMost(`${name}: so do other descriptors`, after.others, before.others);
  checks.atMost(`${name}: idle sessions are closed`, after.logs, OPEN_SESSIONS);
  return { stalled, ms, verdicts, before, atRest, after };
}

/** A host keeps so many sessions open in which nothing runs. */
const OPEN_SESSIONS = 16;

export function checkVerdicts(name: string, verdicts: readonly Verdict[], checks: Checks): void {
  checks.add(
    name,
    verdicts.flatMap(({ faults }) => faults),
  );
}

function checkBounds(
  before: Measurement,
  { now, peak }: Measurement,
  stalled: number,
  checks: Checks,
): void {
  const queued = QUEUED_BYTES + CHUNK_FRAME_BYTES;
  checks.atMost('what is queued for a reader is bounded', peak.queued, queued);
  const buffers = now.arrayBuffers - before.now.arrayBuffers;
  const most = stalled * queued + OTHER_BUFFERS_BYTES;
  checks.atMost('what is held in buffers is bounded', buffers, most);
}

/** Those that stalled read on, and have one more turn. */
async function runResumed(
  stage: Stage,
  settings: LoadSettings,
  stalled: number,
  checks: Checks,
): Promise<void> {
  const faults = await stage.resume();
  checks.add('a reader that stalled gets what it missed not, but a snapshot', faults);
  const plans = shortWave(settings, 2, stalled);
  await stage.start(plans);
  const verdicts = await stage.verdicts(plans);
  checkVerdicts('a reader that stalled goes on with each event once', verdicts, checks);
  const often = verdicts.filter(({ lagged }) => lagged !== 1);
  checks.add(
    'it is told once that it lagged',
    often.map(({ index, lagged }) => `reader ${String(index)}: ${String(lagged)} times`),
  );
}
