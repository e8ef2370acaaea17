import { beforeEach, describe, expect, test } from 'vitest';

import { callState } from '../page/model/call-state.ts';
import type { CallItem, Conversation, TurnView } from '../page/model/view.ts';
import {
  after,
  lasting,
  opened,
  recordSession,
  SESSION,
  type Cut,
  type Recording,
  type SeenAction,
} from './page-support.ts';

let recording: Recording = { events: [], cuts: [] };
let whole: Conversation;

const cutAt = (index: number): Cut => {
  const cut = recording.cuts[index];
  if (cut === undefined) throw new Error(`no cut ${String(index)}`);
  return cut;
};

const turnOf = (view: Conversation, id: string): TurnView => {
  const turn = view.turns.find((other) => other.id === id);
  if (turn === undefined) throw new Error(`no turn ${id}`);
  return turn;
};

const callsOf = (turn: TurnView): CallItem[] =>
  turn.items.flatMap((item) => (item.kind === 'call' ? [item] : []));

/** The view after the last event before one that fits. */
const until = (fits: (name: string, payload: SeenAction['payload']) => boolean): Conversation => {
  const index = recording.events.findIndex(({ name, payload }) => fits(name, payload));
  expect(index).toBeGreaterThan(0);
  return after(opened(cutAt(0)), recording.events.slice(0, index));
};

beforeEach(async () => {
  if (recording.events.length > 0) return; // once is enough: a recording is only read
  recording = await recordSession();
  whole = after(opened(cutAt(0)), recording.events);
});

describe('whenever a session is opened', () => {
  test.each([1, 2, 3, 200])('what follows gives the same view, by pages of %i rows', (limit) => {
    recording.cuts.forEach((cut, index) => {
      const phase = recording.events[index - 1]?.payload['phase'];
      if (phase === 'steered') return; // its rows follow at once: nobody can ask in between
      const view = after(opened(cut, limit), recording.events.slice(index));
      expect(lasting(view), `opened after event ${String(index - 1)}`).toEqual(lasting(whole));
    });
    expect(recording.cuts.length).toBeGreaterThan(60);
  });

  test('what is told twice counts once', () => {
    const view = recording.cuts.reduce(
      (now, _cut, index) => after(now, recording.events.slice(0, index)),
      opened(cutAt(0)),
    );
    expect(view).toEqual(whole);
  });

  test('opening it anew keeps what only watching told', () => {
    const last = cutAt(recording.cuts.length - 1);
    const view = opened(last, 200, whole);
    expect(lasting(view)).toEqual(lasting(whole));
    for (const { id, tokens, steps, milliseconds, end } of whole.turns) {
      expect(turnOf(view, id)).toMatchObject({ tokens, steps, milliseconds, end });
      expect(steps.length).toBeGreaterThan(0);
    }
  });

  test('what the last turn left is told to who comes back', () => {
    const index = recording.events.findIndex(
      ({ payload }) => payload['phase'] === 'cancelled' && payload['turn'] === 'turn-3',
    );
    const cut = cutAt(index + 1);
    const left = { ...cut, state: { ...cut.state, undelivered: ['too late'] } };
    const value = { turn: 'turn-3', lines: ['too late'] };
    expect(opened(left).undelivered).toEqual({ number: 1, value });
    expect(opened(left, 200, opened(left)).undelivered).toEqual({ number: 2, value });
    expect(opened({ ...cut, state: { ...cut.state, undelivered: [] } }).undelivered.number).toBe(0);
  });

  test('events of another session change nothing', () => {
    const [event] = recording.events;
    if (event === undefined) throw new Error('no event');
    const view = opened(cutAt(0));
    expect(after(view, [{ ...event, session: 'another' }])).toBe(view);
  });
});

describe('a turn', () => {
  test('has what was said, thought, called and answered, in order', () => {
    const { items } = turnOf(whole, 'turn-0');
    expect(items.map(({ kind }) => kind)).toEqual([
      'user',
      'reasoning',
      'reply',
      'call',
      'call',
      'reasoning',
      'reply',
    ]);
    expect(items[1]).toMatchObject({ text: 'Let me look.' });
    expect(items[2]).toMatchObject({ text: 'I look.', isPartial: false });
  });

  test.each([
    ['turn-0', 'completed', null],
    ['turn-3', 'cancelled', null],
    ['turn-4', 'error', 'stream: the line is cut'],
    ['turn-5', 'step_limit', null],
    ['turn-6', 'interrupted', null],
  ])('%s ends as %s', (id, kind, error) => {
    const { end, stepCount, milliseconds, tokens } = turnOf(whole, id);
    expect(end).toMatchObject({ kind, error });
    expect(stepCount).toBeGreaterThan(0);
    expect(milliseconds).not.toBeNull();
    expect(tokens).not.toBeNull();
  });

  test('says why it was cancelled, keeps the words it broke off in, gives steering back', () => {
    const { end, items } = turnOf(whole, 'turn-3');
    expect(end?.reason).toBe('enough');
    expect(items.at(-1)).toMatchObject({ kind: 'reply', text: 'I begin', isPartial: true });
    const value = { turn: 'turn-3', lines: ['too late'] };
    expect(whole.undelivered).toEqual({ number: 1, value });
    expect(whole.waiting).toEqual([]);
  });

  test('shows a steering line as waiting until the turn takes it', () => {
    const waiting = until((_name, { phase }) => phase === 'steered');
    expect(waiting.waiting).toEqual(['and the tests']);
    const { items } = turnOf(whole, 'turn-2');
    expect(items.map(({ kind }) => kind)).toEqual(['user', 'reply', 'user', 'reasoning', 'reply']);
    expect(items[2]).toMatchObject({ text: 'and the tests' });
  });

  test('shows its reply while it streams', () => {
    const view = until((name, { text }) => name === 'done' && text === 'I look.');
    expect(turnOf(view, 'turn-0').draft).toEqual({ thinking: 'Let me look.', text: 'I look.' });
    expect(view.running?.turn).toBe('turn-0');
    expect(turnOf(whole, 'turn-0').draft).toBeNull();
    expect(whole.running).toBeNull();
  });

  test('lists its steps with their calls side by side', () => {
    const { steps } = turnOf(whole, 'turn-0');
    expect(steps.map(({ calls }) => calls.map(({ name, isOk }) => [name, isOk]))).toEqual([
      [
        ['look', true],
        ['break', false],
      ],
      [],
    ]);
    for (const { startedMs, firstMs, repliedMs } of steps) {
      expect(firstMs).toBeGreaterThanOrEqual(startedMs);
      expect(repliedMs).toBeGreaterThanOrEqual(firstMs ?? Infinity);
    }
  });
});

test.each([
  [
    'compact',
    { removed_messages: 1, removed_tokens: 1200 },
    'Left out to fit the window: 1 earlier message, about 1,200 tokens.',
  ],
  [
    'status',
    { phase: 'diagnostic', kind: 'sink_failed', message: 'the sink failed' },
    'the sink failed',
  ],
])('what a %s event tells of a turn stands in it', (name, payload, text) => {
  const turn = 'turn-6';
  const event = { type: 'event', name, session: SESSION, turn, seq: 1e6, payload, now: 0 } as const;
  expect(turnOf(after(whole, [event]), turn).items.at(-1)).toMatchObject({ kind: 'notice', text });
});

test('names and phases that are not known change nothing that is shown', () => {
  const event = { type: 'event', session: SESSION, turn: 'turn-6', now: 0 } as const;
  const later = [
    { ...event, name: 'later', seq: 1e6, payload: {} },
    { ...event, name: 'status', seq: 1e6 + 1, payload: { phase: 'later' } },
  ];
  expect(after(whole, later)).toEqual({ ...whole, lastSeq: 1e6 + 1 });
});

test('a turn that is joined later counts its steps from where it was joined', () => {
  const index = recording.cuts.findIndex(({ state }) => state.running?.step === 2);
  const view = after(opened(cutAt(index)), recording.events.slice(index));
  expect(turnOf(view, 'turn-0')).toMatchObject({ firstStep: 2, stepCount: 2 });
  expect(turnOf(view, 'turn-0').steps).toHaveLength(1);
});

describe('a call', () => {
  test('waits for approval as long as the question is open', () => {
    const view = until((_name, { phase }) => phase === 'approval');
    const [first, second] = callsOf(turnOf(view, 'turn-1'));
    expect(view.approvals.map(({ call_id }) => call_id)).toEqual(['c', 'd']);
    for (const call of [first, second]) {
      const approval = view.approvals.find(({ call_id }) => call_id === call?.id) ?? null;
      expect(call && callState(call, approval, true)).toBe('waiting');
    }
    expect(whole.approvals).toEqual([]);
  });

  test.each([
    ['turn-0', 'a', 'done'],
    ['turn-0', 'b', 'failed'],
    ['turn-1', 'c', 'done'],
    ['turn-1', 'd', 'denied'],
  ])('of %s, %s, is %s, from events as from rows', (turn, id, state) => {
    const last = cutAt(recording.cuts.length - 1);
    for (const view of [whole, opened(last)]) {
      const call = callsOf(turnOf(view, turn)).find((other) => other.id === id);
      expect(call && callState(call, null, false)).toBe(state);
    }
  });

  test('without a result is abandoned when its turn does not run', () => {
    const [call] = callsOf(turnOf(whole, 'turn-0'));
    const open = call && { ...call, result: null };
    expect(open && callState(open, null, false)).toBe('abandoned');
    expect(open && callState(open, null, true)).toBe('running');
  });
});

test('a reader that hears the page is told of replies and ends, not of each piece', () => {
  const said = recording.events.map(
    (_event, index) =>
      after(opened(cutAt(0)), recording.events.slice(0, index + 1)).announcement.value,
  );
  expect(new Set(said)).toContain('Reply: It is done.');
  expect(new Set(said)).toContain('Approval needed: write. it writes');
  expect(new Set(said)).toContain('Turn over: stopped at the step limit.');
  expect(said.filter((words) => words.includes('It is '))).not.toContain('Reply: It is ');
  expect(whole.session).toBe(SESSION);
});
