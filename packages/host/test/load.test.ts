import type { SessionEvent } from '@celestea/core';
import { expect, test } from 'vitest';

import { runFaults } from '../../../bench/load/logs.ts';
import { callResult, pieceText, stepCalls, stepText, type TurnPlan } from '../../../bench/load/plan.ts';
import { TurnCheck } from '../../../bench/load/turn-check.ts';

const plan: TurnPlan = {
  wave: 1,
  index: 0,
  together: 1,
  steps: 2,
  pieces: 2,
  pieceLength: 20,
  calls: 2,
  fate: 'completes',
};

type Seen = [name: string, payload: Record<string, unknown>];

/** The events of the plan, as they come when all goes well. */
function eventsOf(of: TurnPlan): Seen[] {
  return Array.from({ length: of.steps }, (_, step) => step).flatMap((step): Seen[] => {
    const calls = stepCalls(of, step);
    return [
      ...[0, 1].map((piece): Seen => ['text', { delta: pieceText(of, step, piece) }]),
      ['done', { text: stepText(of, step), tool_calls: calls }],
      ...calls.map((call): Seen => ['tool', { ...call }]),
      ...calls.map(({ id }): Seen => ['tool_result', { id, ok: true, value: callResult(id) }]),
    ];
  });
}

function faultsOf(events: readonly Seen[], outcome = 'completed'): string[] {
  const check = new TurnCheck(plan);
  for (const [name, payload] of events) check.see(name, payload);
  check.see('turn_end', { outcome });
  check.end();
  return check.faults;
}

test('the check of a turn takes what its plan says', () => {
  expect(faultsOf(eventsOf(plan))).toEqual([]);
  expect(faultsOf(eventsOf(plan), 'interrupted')).toEqual(['step 2: the outcome interrupted']);
});

test('the check of a turn finds each event that is missing, and each that comes twice', () => {
  const events = eventsOf(plan);
  events.forEach((event, place) => {
    expect(faultsOf(events.toSpliced(place, 1)), `without ${event[0]}`).not.toEqual([]);
    expect(faultsOf(events.toSpliced(place, 0, event)), `${event[0]} twice`).not.toEqual([]);
  });
});

test('the check of tool runs finds a run too many, too few, and one that is in no log', () => {
  const rows: SessionEvent[] = [
    { type: 'tool_call', id: 'a', name: 'work', args: {} },
    { type: 'tool_result', id: 'a', value: null, error: null },
  ];
  expect(runFaults(0, ['a'], rows)).toEqual([]);
  expect(runFaults(0, ['a', 'a'], rows)).toEqual(['session 0: a ran twice']);
  expect(runFaults(0, [], rows)).toEqual(['session 0: a has a result and never ran']);
  expect(runFaults(0, ['a', 'b'], rows)).toEqual(['session 0: b ran and is in no log']);
});
