import type { ApprovalRequest } from '@celestea/tools';
import { expect, test } from 'vitest';

import { ApprovalDesk } from '../src/sessions/index.ts';
import { codeOf, Reader } from './sessions-support.ts';

const request = (call_id: string): ApprovalRequest => ({
  call_id,
  name: 'run_command',
  args: { command: 'ls' },
  reason: 'it runs commands',
});

function newDesk(): { desk: ApprovalDesk; reader: Reader } {
  const reader = new Reader();
  return {
    desk: new ApprovalDesk({ publish: reader.publish, turn: () => 'turn-3', now: () => 5 }),
    reader,
  };
}

const ids = (desk: ApprovalDesk): string[] => desk.list().map(({ id }) => id);

test('a question is published and listed until it is answered, and both are told', async () => {
  const { desk, reader } = newDesk();
  const answer = desk.decide(request('a'));
  const [id = ''] = ids(desk);
  const approval = {
    id,
    text: 'May run_command run? it runs commands',
    call_id: 'a',
    tool: 'run_command',
    args: { command: 'ls' },
    reason: 'it runs commands',
    asked_ms: 5,
  };
  expect(desk.list()).toEqual([approval]);
  desk.allow(id);
  expect(await answer).toEqual({ kind: 'allow' });
  expect(desk.list()).toEqual([]);
  expect(reader.events).toEqual([
    { name: 'question', turn: 'turn-3', payload: approval },
    {
      name: 'status',
      turn: 'turn-3',
      payload: { phase: 'approval', id, decision: 'allow', call_id: 'a', tool: 'run_command' },
    },
  ]);
});

test('questions are answered in any order, each by its own id', async () => {
  const { desk } = newDesk();
  const answers = ['a', 'b', 'c'].map((id) => desk.decide(request(id)));
  const [a = '', b = '', c = ''] = ids(desk);
  desk.deny(c, 'not this');
  desk.allow(a);
  desk.deny(b);
  expect(await Promise.all(answers)).toEqual([
    { kind: 'allow' },
    { kind: 'deny', reason: 'the user said no' },
    { kind: 'deny', reason: 'not this' },
  ]);
});

test('an answer to a question that is not open is refused as gone', async () => {
  const { desk } = newDesk();
  void desk.decide(request('a'));
  const [id = ''] = ids(desk);
  desk.allow(id);
  expect(await codeOf(() => { desk.allow(id); })).toBe('gone');
  expect(await codeOf(() => { desk.deny(id); })).toBe('gone');
  expect(await codeOf(() => { desk.allow('__proto__'); })).toBe('gone');
});

test('a wrong reason leaves the question open', () => {
  const { desk } = newDesk();
  void desk.decide(request('a'));
  const [id = ''] = ids(desk);
  expect(() => { desk.deny(id, 1 as never); }).toThrow(new TypeError('reason: expected a text, got 1'));
  expect(ids(desk)).toEqual([id]);
  desk.withdrawAll();
});

test('a question of a cancelled call is taken back, once', async () => {
  const { desk, reader } = newDesk();
  const cancel = new AbortController();
  const answer = desk.decide(request('a'), { signal: cancel.signal });
  const [id = ''] = ids(desk);
  cancel.abort();
  expect(await answer).toEqual({ kind: 'deny', reason: 'the question was withdrawn' });
  expect(desk.list()).toEqual([]);
  expect(await codeOf(() => { desk.allow(id); })).toBe('gone');
  expect(reader.words()).toEqual(['question', 'approval']);
  expect(reader.events[1]?.payload).toMatchObject({ id, decision: 'withdrawn' });
});

test('a call that is cancelled already is not asked about', async () => {
  const { desk, reader } = newDesk();
  const answer = await desk.decide(request('a'), { signal: AbortSignal.abort() });
  expect(answer.kind).toBe('deny');
  expect(reader.events).toEqual([]);
});

test('a question without a signal is taken back with all others', async () => {
  const { desk } = newDesk();
  const cancel = new AbortController();
  const answers = [desk.decide(request('a')), desk.decide(request('b'), { signal: cancel.signal })];
  desk.withdrawAll();
  expect((await Promise.all(answers)).map(({ kind }) => kind)).toEqual(['deny', 'deny']);
  expect(desk.list()).toEqual([]);
});

test('no two desks give the same id: a late answer of an earlier process meets no question', () => {
  const desks = [newDesk().desk, newDesk().desk];
  for (const desk of desks) void desk.decide(request('a'));
  expect(new Set(desks.flatMap(ids)).size).toBe(2);
});
