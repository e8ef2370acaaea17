import { checkVerdicts } from './lane.ts';
import type { Checks } from './checks.ts';
import { callsOf, readLog, readRuns, runFaults, turnOutcomes, type ReadLog } from './logs.ts';
import type { TurnPlan } from './plan.ts';
import type { Verdict } from './protocol.ts';
import { doomedWave, shortWave, type LoadSettings } from './settings.ts';
import type { Stage } from './stage.ts';

/** What the death of a server left. */
export interface CrashFigures {
  /** Turns that were running. */
  readonly interrupted: number;
  /** Tool runs of all waves, each for a call of its own. */
  readonly runs: number;
  /** From the start of the new server to the end of the last turn in it, in milliseconds. */
  readonly backMs: number;
}

/** Kills the server in the middle of a wave, starts another on the same folder and goes on. */
export async function runCrash(
  stage: Stage,
  settings: LoadSettings,
  checks: Checks,
): Promise<CrashFigures> {
  const plans = doomedWave(settings, 3);
  const interrupted = plans.filter(({ fate }) => fate !== 'completes');
  const seen = await runDoomed(stage, plans, interrupted.length, checks);
  await checkDeadLogs(stage, seen, checks);
  const start = performance.now();
  await stage.startServer();
  checks.note('started again on the same folder');
  await runNext(stage, settings, seen, checks);
  const backMs = performance.now() - start;
  await checkClosed(stage, checks);
  const runs = await checkFinalLogs(stage, plans, checks);
  return { interrupted: interrupted.length, runs, backMs };
}

async function runDoomed(
  stage: Stage,
  plans: readonly TurnPlan[],
  interrupted: number,
  checks: Checks,
): Promise<Verdict[]> {
  await stage.follow(0);
  await stage.start(plans);
  const completing = plans.filter(({ fate }) => fate === 'completes');
  const verdicts = await stage.verdicts(completing);
  checkVerdicts('turns that end before the server dies are told of whole', verdicts, checks);
  await stage.untilIdle(completing);
  await stage.untilStanding(interrupted);
  const seen = await stage.kill();
  checks.note(`killed with ${String(interrupted)} turns running`);
  checkVerdicts('what readers saw until it died is in order', seen, checks);
  await stage.forget();
  return seen;
}

const readLogs = (stage: Stage, isDead: boolean): Promise<ReadLog[]> =>
  Promise.all(stage.sessions.map((session) => readLog(stage.folder, session, isDead)));

async function checkDeadLogs(
  stage: Stage,
  seen: readonly Verdict[],
  checks: Checks,
): Promise<void> {
  const logs = await readLogs(stage, true);
  const faults = logs.flatMap((log) => log.faults);
  checks.add('every log of the dead server is valid', faults);
  const unwritten = seen.flatMap(({ index, answered }) => {
    const { done } = callsOf(logs[index]?.rows ?? []);
    const missing = answered.filter((call) => !done.has(call));
    return missing.map((call) => `session ${String(index)}: ${call}`);
  });
  checks.add('every result that a reader saw is in the log', unwritten);
}

/** Readers come back with what they saw last, and each session has one more turn. */
async function runNext(
  stage: Stage,
  settings: LoadSettings,
  seen: readonly Verdict[],
  checks: Checks,
): Promise<void> {
  await stage.follow(0, new Map(seen.map(({ index, lastEventId }) => [index, lastEventId])));
  const plans = shortWave(settings, 4);
  await stage.start(plans);
  const verdicts = await stage.verdicts(plans);
  await stage.untilIdle(plans);
  checkVerdicts('the next turn of each session works', verdicts, checks);
  const former = new Map(seen.map((verdict) => [verdict.index, verdict]));
  const faults = verdicts.flatMap(({ index, lagged, interrupted }) => {
    const before = former.get(index);
    const expected = before?.wave === -1 ? null : before?.turn;
    const isTold = lagged === 1 && interrupted === expected;
    const came = `told ${String(lagged)} times that it lagged, ${String(interrupted)} interrupted`;
    return isTold ? [] : [`reader ${String(index)}: ${came}`];
  });
  checks.add('who comes back is told that it lagged, and which turn was interrupted', faults);
}

async function checkClosed(stage: Stage, checks: Checks): Promise<void> {
  await stage.forget();
  const { last, exit, complaints } = await stage.closeServer();
  checks.same('a server that is closed has no log open', last.logs, 0);
  checks.same('and ends by itself', exit, 'code 0');
  checks.same('and has nothing to complain of', complaints, '');
}

/** Gives how many runs there were. */
async function checkFinalLogs(
  stage: Stage,
  doomed: readonly TurnPlan[],
  checks: Checks,
): Promise<number> {
  const logs = await readLogs(stage, false);
  checks.add(
    'every log is valid in the end',
    logs.flatMap((log) => log.faults),
  );
  const outcomes = logs.flatMap(({ rows }, index) => {
    const [next, fatal, ...others] = turnOutcomes(rows).reverse();
    const expected = doomed[index]?.fate === 'completes' ? 'completed' : 'interrupted';
    const fits = next === 'completed' && fatal === expected;
    const are = fits && others.every((outcome) => outcome === 'completed');
    return are ? [] : [`session ${String(index)}: ${[...others, fatal, next].join()}`];
  });
  checks.add('the turns that were running are interrupted, all others completed', outcomes);
  const runs = readRuns(stage.runsFile);
  const faults = logs.flatMap(({ rows }, index) => runFaults(index, runs.get(index) ?? [], rows));
  checks.add('no tool ran twice for a call, and each that ran is in the log', faults);
  return [...runs.values()].reduce((sum, calls) => sum + calls.length, 0);
}
