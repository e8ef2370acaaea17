import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';

import { Checks, type Check } from './checks.ts';
import { runCrash, type CrashFigures } from './crash.ts';
import { runLane, type LaneFigures } from './lane.ts';
import type { LoadSettings } from './settings.ts';
import { Stage } from './stage.ts';

/** What a load test found. */
export interface LoadReport {
  readonly settings: LoadSettings;
  /** Processes that wanted to run in the minute before. */
  readonly othersRan: number;
  readonly checks: readonly Check[];
  readonly isPassed: boolean;
  /** The same turns without a reader that stalls; `null` when that was not wanted. */
  readonly quiet: LaneFigures | null;
  readonly stalling: LaneFigures;
  readonly crash: CrashFigures;
}

/** Runs all of it in a folder that is removed afterwards; `say` gets a line now and then. */
export async function runLoad(
  settings: LoadSettings,
  say: (line: string) => void,
): Promise<LoadReport> {
  const folder = mkdtempSync(join(tmpdir(), 'celestea-load-'));
  const checks = new Checks(say);
  const [othersRan = 0] = loadavg();
  try {
    const quiet = settings.compares ? await runQuiet(settings, folder, checks) : null;
    const { stalling, crash } = await runStalling(settings, folder, checks);
    const { all, isPassed } = checks;
    return { settings, othersRan, checks: all, isPassed, quiet, stalling, crash };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const runQuiet = (settings: LoadSettings, folder: string, checks: Checks): Promise<LaneFigures> =>
  onStage(settings, join(folder, 'quiet'), async (stage) => {
    const figures = await runLane(stage, settings, 0, checks);
    await stage.closeServer();
    return figures;
  });

const runStalling = (
  settings: LoadSettings,
  folder: string,
  checks: Checks,
): Promise<Pick<LoadReport, 'stalling' | 'crash'>> =>
  onStage(settings, join(folder, 'stalling'), async (stage) => {
    const stalling = await runLane(stage, settings, settings.stalled, checks);
    return { stalling, crash: await runCrash(stage, settings, checks) };
  });

async function onStage<Result>(
  settings: LoadSettings,
  folder: string,
  work: (stage: Stage) => Promise<Result>,
): Promise<Result> {
  mkdirSync(folder);
  const stage = new Stage(settings, folder);
  try {
    await stage.startServer();
    return await work(stage);
  } finally {
    await stage.end();
  }
}
