import { cpus, platform, release, totalmem } from 'node:os';
import process from 'node:process';

import type { LaneFigures } from './lane.ts';
import type { LoadReport } from './load.ts';

/** The section of a report, in Markdown. */
export function renderReport(report: LoadReport): string {
  const { settings, checks, quiet, stalling, crash } = report;
  const { turns, readers, stalled } = settings;
  const failed = checks.filter(({ faults }) => faults.length > 0);
  const lanes = quiet === null ? [stalling] : [quiet, stalling];
  return [
    '## Load',
    '',
    `\`pnpm load\` runs ${count(turns)} turns in ${count(turns)} sessions of \`@celestea/host\` at the same time, in a server`,
    `process of its own, while ${count(readers)} readers follow them from ${String(settings.readerProcesses)} others: first all of them to the`,
    `end, then with ${count(stalled)} that stop reading after the first bytes. Each turn is ${String(settings.steps)} steps of ${String(settings.pieces)}`,
    `deltas, ${String(settings.paceMs)} ms apart, with ${String(settings.calls)} parallel calls after each step but the last; the sessions whose`,
    'readers stall tell more than a socket, the ring and the queue hold together. Then the server is',
    'killed in the middle of another wave of turns and started again on the same folder.',
    '',
    `- Date: ${new Date().toISOString().slice(0, 10)}`,
    `- Machine: ${machine()}; in the minute before, ${report.othersRan.toFixed(1)} processes wanted to run`,
    `- System: ${platform()} ${release()}`,
    `- Node ${process.version}`,
    '',
    ...laneTable(lanes),
    '',
    ...(quiet === null ? [] : [ratioText(quiet, stalling), '']),
    `The server was killed with ${count(crash.interrupted)} turns running. ${(crash.backMs / 1000).toFixed(1)} s after the new one was started,`,
    'every session had had its next turn.',
    `In all, tools ran ${count(crash.runs)} times, once for each call.`,
    '',
    failed.length === 0
      ? `All ${String(checks.length)} checks passed.`
      : `${String(failed.length)} of ${String(checks.length)} checks FAILED:`,
    ...failed.map(({ name, faults }) => `- ${name}: ${faults[0] ?? ''}`),
    '',
  ].join('\n');
}

function machine(): string {
  const cores = cpus();
  const gibibytes = String(Math.round(totalmem() / 2 ** 30));
  return `${String(cores.length)} × ${cores[0]?.model.trim() ?? 'unknown'}, ${gibibytes} GiB`;
}

/** A figure of a wave. */
type Figure = readonly [name: string, of: (lane: LaneFigures) => string];

const FIGURES: readonly Figure[] = [
  ['all turns of live readers, s', ({ ms }) => (ms / 1000).toFixed(1)],
  ['a turn of a live reader, median, s', (lane) => (turnMs(lane, 0.5) / 1000).toFixed(1)],
  ['a turn of a live reader, 99th percentile, s', (lane) => (turnMs(lane, 0.99) / 1000).toFixed(1)],
  ['events read by live readers', (lane) => count(sum(lane, 'events'))],
  ['MiB read by live readers', (lane) => mebibytes(sum(lane, 'bytes'))],
  ['processor time of the server, s', ({ atRest }) => (atRest.cpuMs / 1000).toFixed(1)],
  ['event loop late, 99th percentile, ms', ({ atRest }) => atRest.lateMs.toFixed(0)],
  ['most queued for one reader, KiB', ({ atRest }) => (atRest.peak.queued / 1024).toFixed(0)],
  ['buffers: before / peak / at rest / after, MiB', usages('arrayBuffers')],
  ['heap: before / peak / at rest / after, MiB', usages('heap')],
  ['resident: before / peak / at rest / after, MiB', usages('rss')],
  [
    'sockets: before / at rest / after',
    ({ before, atRest, after }) => [before, atRest, after].map(({ sockets }) => sockets).join(' / '),
  ],
];

function laneTable(lanes: readonly LaneFigures[]): string[] {
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    row(['', ...lanes.map(({ stalled }) => `${count(stalled)} stalled`)]),
    row(['---', ...lanes.map(() => '---:')]),
    ...FIGURES.map(([name, of]) => row([name, ...lanes.map(of)])),
  ];
}

function usages(name: 'arrayBuffers' | 'heap' | 'rss'): Figure[1] {
  return ({ before, atRest, after }) => {
    const values = [before.now, atRest.peak, atRest.now, after.now].map((usage) => usage[name]);
    return values.map(mebibytes).join(' / ');
  };
}

/** The same sessions are compared: those whose readers never stall. */
function ratioText(quiet: LaneFigures, stalling: LaneFigures): string {
  const live = { ...quiet, verdicts: quiet.verdicts.filter((of) => of.index >= stalling.stalled) };
  const ratio = (a: number, b: number): string => (b / a).toFixed(2);
  return [
    `With stalled readers the others waited ${ratio(turnMs(live, 1), turnMs(stalling, 1))} times as long for the last of their`,
    `turns, and ${ratio(turnMs(live, 0.5), turnMs(stalling, 0.5))} times for that of the median turn.`,
  ].join('\n');
}

function turnMs({ verdicts }: LaneFigures, part: number): number {
  const times = verdicts.map(({ ms }) => ms).sort((a, b) => a - b);
  return times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;
}

const sum = ({ verdicts }: LaneFigures, name: 'events' | 'bytes'): number =>
  verdicts.reduce((total, verdict) => total + verdict[name], 0);

const mebibytes = (bytes: number): string => count(Math.round(bytes / 2 ** 20));

const count = (value: number): string => value.toLocaleString('en-US');
