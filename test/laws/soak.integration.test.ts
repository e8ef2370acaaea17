import { join } from 'node:path';

import { createAgentLoop } from '@celestea/agent-loop';
import {
  assertLogValid,
  callTools,
  FakeSessionLog,
  FakeToolRegistry,
  Gate,
  HangingLlm,
  say,
  ScriptedLlm,
  testContext,
  type FakeTool,
} from '@celestea/agent-loop/testing';
import { defaultAgentConfig, type Llm, type TurnOutcome } from '@celestea/core';
import { buildSync } from 'esbuild';
import { describe, expect, test } from 'vitest';

import { Child } from '../../packages/session/test/support/child.ts';
import { quickFile, testFile } from '../../packages/session/test/support/folder.ts';
import { call, quiet } from '../support/turn.ts';
import { listenersOf } from './support/soak-turns.ts';
import { soakTable, type SoakReport } from './support/soak-table.ts';

/** `CELESTEA_SOAK=2000` runs so many turns and tells where a table of the figures is. */
const SOAK = Number(process.env['CELESTEA_SOAK'] ?? 0);
const TURNS = SOAK > 0 ? SOAK : 150;
/** Only a hang ends it by the clock. */
const timeout = 120_000 + 100 * TURNS;

/** The heap may grow by what the log costs alone, and by a fifth of it. */
const MOST = 1.2;

/** What is compiled meanwhile, or thrown away, is in the heap too, and not the same every time. */
const STEADY = ['--expose-gc', '--no-opt', '--no-maglev', '--no-sparkplug', '--no-flush-bytecode'];

async function soaked(path: string): Promise<SoakReport> {
  const outfile = testFile('soak.mjs');
  const entryPoints = [join(import.meta.dirname, 'support', 'soak-child.ts')];
  buildSync({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm' });
  const child = new Child(outfile, [path, String(TURNS)], STEADY);
  const line = await child.line();
  expect(await child.exited).toEqual({ code: 0, signal: null, stderr: '' });
  return JSON.parse(line ?? '') as SoakReport;
}

describe('turns on one signal and one log', () => {
  test.for([
    ['in memory', 'rowsAndMessages', () => 'memory'],
    ['in a file', 'messages', quickFile],
  ] as const)(
    'L6.4 C4.7 %s: what a turn took, it gives back',
    { timeout },
    async ([where, held, path], { annotate }) => {
      const report = await soaked(path());
      const { looks, control, watched } = report;
      if (SOAK > 0) await annotate(soakTable(`log ${where}`, report, held));
      expect(report.collected).toBe(true);
      expect(looks.map(({ turns }) => turns)).toEqual([0, Math.floor(TURNS / 2), TURNS]);
      const [start] = looks;
      const whole = looks.at(-1);
      if (start === undefined || whole === undefined) throw new Error('nobody looked');
      for (const { turns, rows, heap, descriptors, resources, left } of looks.slice(1)) {
        const own = control[held] * (rows / whole.rows);
        expect((heap - start.heap) / own, `heap after ${String(turns)} turns`).toBeLessThan(MOST);
        expect(descriptors, 'open files').toBe(start.descriptors);
        expect(resources, 'active resources').toBe(start.resources);
        expect(left, 'listeners between turns').toBe(0);
      }
      expect(watched.listeners, 'listeners on the shared signal').toBe(1);
      expect(watched.messages, 'messages of the largest request').toBeLessThan(100);
      const { completed = 0, cancelled = 0 } = watched.outcomes;
      expect(completed + cancelled).toBe(TURNS);
      expect(cancelled).toBe(Math.floor(TURNS / 5) * 2 + Math.max(0, (TURNS % 5) - 3));
    },
  );
});

/** Turns at the same time, each on a log of its own. */
const SIDE_BY_SIDE = 1_000;

describe(`${String(SIDE_BY_SIDE)} turns side by side under one signal`, () => {
  /** Runs them with `llm` and `echo`; a look at the shared signal at every event. */
  function crowd(signal: AbortSignal, llm: (index: number) => Llm, echo: FakeTool) {
    const logs = Array.from({ length: SIDE_BY_SIDE }, () => new FakeSessionLog());
    const seen = new Set<number>();
    const look = (): void => {
      seen.add(listenersOf(signal));
    };
    const loop = createAgentLoop(defaultAgentConfig(), { signal, sink: look });
    const turns = logs.map((log, index): Promise<TurnOutcome> => {
      const tools = new FakeToolRegistry({ echo });
      return loop.runTurnOutcome(testContext({ llm: llm(index), log, tools }), String(index));
    });
    look();
    return { logs, seen, turns };
  }

  test('L6.4 X3 they end by themselves, and the signal is let go of', async () => {
    const host = new AbortController();
    const gate = new Gate();
    const { logs, seen, turns } = crowd(
      host.signal,
      (index) => new ScriptedLlm([callTools(call('a'), call('b')), say(String(index))]),
      () => gate.wait(),
    );
    while (gate.waiting < 2 * SIDE_BY_SIDE) await quiet(1);
    gate.open();
    expect(new Set(await Promise.all(turns))).toEqual(new Set(['completed']));
    expect(Math.max(...seen), 'listeners at any event').toBe(1);
    expect(listenersOf(host.signal)).toBe(0);
    for (const [index, { rows }] of logs.entries()) {
      assertLogValid(rows);
      expect(rows.at(-2)).toEqual({ type: 'assistant_message', text: String(index) });
    }
  });

  test('L6.4 X17 one cancel ends all of them, in the model and in a tool', async () => {
    const host = new AbortController();
    let running = 0;
    const { logs, seen, turns } = crowd(
      host.signal,
      (index) => (index % 2 === 0 ? new HangingLlm() : new ScriptedLlm([callTools(call('a'))])),
      () => {
        running += 1;
        return new Promise(() => undefined);
      },
    );
    while (running < SIDE_BY_SIDE / 2) await quiet(1);
    expect(listenersOf(host.signal)).toBe(1);
    host.abort('closing');
    expect(new Set(await Promise.all(turns))).toEqual(new Set(['cancelled']));
    expect(Math.max(...seen), 'listeners at any event').toBe(1);
    expect(listenersOf(host.signal)).toBe(0);
    for (const { rows } of logs) assertLogValid(rows);
    const left = logs.filter(({ rows }) => rows.some((row) => 'abandoned' in row && row.abandoned));
    expect(left).toHaveLength(SIDE_BY_SIDE / 2);
  });
});
