import { describe, expect, test } from 'vitest';

import { createAgentLoop } from '@celestea/agent-loop';
import {
  assertLogValid,
  callTools,
  FakeSessionLog,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
} from '@celestea/agent-loop/testing';
import { defaultAgentConfig, type SessionEvent } from '@celestea/core';

import { assertRequestValid } from './support/request-checker.ts';
import {
  playRich,
  RICH_MESSAGES,
  type PointKind,
  type RichTurn,
  type ToolManner,
} from './support/rich-turn.ts';
import { call, quiet } from './support/turn.ts';

const idsOf = (rows: readonly SessionEvent[], type: 'tool_call' | 'tool_result'): string[] =>
  rows.flatMap((row) => (row.type === type ? [row.id] : []));

/** A turn on a log as it was left: its request is valid, and it runs its own call alone. */
async function goOn(log: FakeSessionLog): Promise<void> {
  const before = idsOf(log.rows, 'tool_call');
  const llm = new ScriptedLlm([callTools(call('a')), say('Fine.')]);
  const tools = new FakeToolRegistry({ echo: () => 'again' });
  const loop = createAgentLoop(defaultAgentConfig());
  expect(await loop.runTurnOutcome(testContext({ llm, log, tools }), 'and now?')).toBe('completed');
  expect(llm.requests).toHaveLength(2);
  for (const request of llm.requests) assertRequestValid(request);
  expect(tools.dispatched, 'no tool of the earlier turn runs again').toHaveLength(1);
  expect(before).not.toContain(tools.dispatched[0]?.call_id);
}

/** What holds of every turn, wherever it was cancelled. */
async function checkTurn({ outcome, log, mail, lateRequests, started }: RichTurn): Promise<void> {
  const rows = [...log.rows];
  await quiet(8);
  expect(log.rows, 'no late row').toEqual(rows);
  assertLogValid(rows);
  expect(rows.at(-1)).toEqual({ type: 'turn_end', id: 'turn-0', outcome });
  expect(idsOf(rows, 'tool_result')).toEqual(idsOf(rows, 'tool_call'));
  expect(lateRequests, 'no request after the cancel').toBe(0);
  for (const row of rows) {
    if (row.type !== 'tool_result' || row.error !== 'cancelled before execution') continue;
    expect(row.abandoned === true, `${row.id} had started`).toBe(started.includes(row.id));
  }
  const texts = rows.flatMap((row) => (row.type === 'user_message' ? [row.text] : []));
  const posted = [...mail.drained, ...mail.waiting].map(({ text }) => text);
  expect(RICH_MESSAGES.slice(0, posted.length)).toEqual(posted);
  const kept = [...texts.slice(1), ...mail.waiting.map(({ text }) => `[from Ann] ${text}`)];
  expect(kept, 'each message once').toEqual(posted.map((text) => `[from Ann] ${text}`));
  await goOn(log);
  assertLogValid(log.rows);
}

/** The rich turn cancelled at one point: in the very call, or while it is waited for. */
function cancelAt(
  manner: ToolManner,
  kind: PointKind,
  index: number,
  when: 'at once' | 'waiting',
  times: number,
): Promise<RichTurn> {
  return playRich(manner, (cancel) => {
    const cancelAll = (): void => {
      for (let time = 0; time < times; time += 1) cancel();
    };
    return (passedKind, passedIndex) => {
      if (passedKind !== kind || passedIndex !== index) return undefined;
      if (when === 'waiting') return quiet(1).then(cancelAll);
      cancelAll();
      return undefined;
    };
  });
}

const manners: ToolManner[] = ['quick', 'stops', 'late', 'deaf'];
const walks: [kind: PointKind, when: 'at once' | 'waiting'][] = [
  ['event', 'at once'],
  ['row', 'at once'],
  ['await', 'at once'],
  ['await', 'waiting'],
];

/** The first point, of each kind, that comes after the turn was decided. */
const decidedFrom = (passed: Record<PointKind, string[]>): Record<PointKind, number> => ({
  event: passed.event.lastIndexOf('done'),
  row: passed.row.lastIndexOf('assistant_message'),
  await: passed.await.lastIndexOf('flush'),
});

const whole = (manner: ToolManner): Promise<RichTurn> => playRich(manner, () => () => undefined);

describe('the rich turn', () => {
  test.each(manners)('X6 X9 L2.4 uncancelled, with tools that are %s', async (manner) => {
    const turn = await whole(manner);
    expect(turn.outcome).toBe('completed');
    expect(turn.passed.event).toEqual([
      ...['thinking', 'text', 'thinking', 'thinking', 'done', 'tool_call', 'tool_call'],
      ...['tool_call', 'tool_result', 'tool_result', 'tool_result', 'thinking', 'done'],
      ...['tool_call', 'tool_result', 'text', 'done', 'thinking', 'text', 'done', 'turn_end'],
    ]);
    expect(turn.passed.row).toEqual([
      ...['turn_start', 'user_message', 'thinking_delta', 'thinking_delta', 'thinking_delta'],
      ...['assistant_message', 'tool_call', 'tool_call', 'tool_call'],
      ...['tool_result', 'tool_result', 'tool_result', 'user_message', 'thinking_delta'],
      ...['tool_call', 'tool_result', 'user_message', 'assistant_message', 'user_message'],
      ...['thinking_delta', 'assistant_message', 'turn_end'],
    ]);
    expect(turn.passed.await).toEqual([
      ...['flush', 'generate', 'next', 'next', 'next', 'next', 'next', 'next', 'flush'],
      ...['dispatch', 'dispatch', 'dispatch', 'flush', 'generate', 'next', 'next', 'next'],
      ...['flush', 'dispatch', 'flush', 'generate', 'next', 'next', 'next', 'flush', 'generate'],
      ...['next', 'next', 'next', 'next', 'flush'],
    ]);
    await checkTurn(turn);
  });
});

describe.each(manners)('cancelled at every point, with tools that are %s', (manner) => {
  test.each(walks)('X2 X4 X6 X17 L4.5 at every %s, %s, once and twice', async (kind, when) => {
    const { passed } = await whole(manner);
    const decided = decidedFrom(passed)[kind];
    let walked = 0;
    for (const [index, name] of passed[kind].entries()) {
      for (const times of [1, 2]) {
        const turn = await cancelAt(manner, kind, index, when, times);
        const point = `${kind} ${String(index)}, ${name}, ${String(times)} times`;
        expect(turn.outcome, point).toBe(index < decided ? 'cancelled' : 'completed');
        await checkTurn(turn);
        walked += 1;
      }
    }
    expect(walked).toBe({ event: 42, row: 44, await: 62 }[kind]);
  });
});

/** Rows without what tells one run of the same turn from another: for a cut, once is enough. */
const distinct = (logs: readonly SessionEvent[][]): SessionEvent[][] => [
  ...new Map(logs.map((rows) => [JSON.stringify(rows), rows])).values(),
];

test('C4.6 L5.1 X11 a log cut after every row of every turn: the next turn goes on', async () => {
  const turns = [(await whole('quick')).log.rows];
  for (const manner of manners) {
    const { passed } = await whole(manner);
    for (const [kind, when] of walks) {
      for (const index of passed[kind].keys()) {
        turns.push((await cancelAt(manner, kind, index, when, 1)).log.rows);
      }
    }
  }
  const cuts = turns.flatMap((rows) =>
    Array.from({ length: rows.length + 1 }, (_, at) => rows.slice(0, at)),
  );
  const different = distinct(cuts);
  for (const rows of different) await goOn(new FakeSessionLog({ rows }));
  expect(turns).toHaveLength(1 + 4 * (21 + 22 + 31 + 31));
  expect(cuts.length, 'places to crash at').toBeGreaterThan(6_000);
  expect(different.length, 'different logs').toBeGreaterThanOrEqual(60);
});

test('C4.6 L5.1 X11 a log cut twice: after every row of a turn on a log that was cut', async () => {
  const { rows } = (await whole('quick')).log;
  let walked = 0;
  for (let at = 0; at <= rows.length; at += 1) {
    const second = new FakeSessionLog({ rows: rows.slice(0, at) });
    await goOn(second);
    for (let then = at; then <= second.rows.length; then += 1) {
      await goOn(new FakeSessionLog({ rows: second.rows.slice(0, then) }));
      walked += 1;
    }
  }
  expect(walked).toBe(23 * 7);
});
