import type { LoopEvent } from '@celestea/core';
import { expect, it } from 'vitest';

import { JsonLines } from '../src/turn-view.ts';

function lines(events: readonly LoopEvent[], turn = (): string => 'turn-3'): string[] {
  const written: string[] = [];
  const writer = new JsonLines({ write: (text) => written.push(text), session: 's', turn });
  for (const event of events) writer.render(event);
  return written;
}

it('writes a frame in its envelope a line', () => {
  expect(
    lines([
      { kind: 'text', delta: 'a\nb' },
      { kind: 'turn_end', outcome: 'completed' },
    ]),
  ).toEqual([
    '{"v":1,"session":"s","turn":"turn-3","seq":0,"event":"text","payload":{"delta":"a\\nb"}}\n',
    '{"v":1,"session":"s","turn":"turn-3","seq":1,"event":"turn_end",' +
      '"payload":{"error":null,"outcome":"completed"}}\n',
  ]);
});

it('asks for the turn once, when the first event is there', () => {
  let asked = 0;
  const turn = (): string => {
    asked += 1;
    return 'turn-0';
  };
  expect(lines([], turn)).toEqual([]);
  expect(asked).toBe(0);
  lines([{ kind: 'text', delta: 'a' }, { kind: 'text', delta: 'b' }], turn);
  expect(asked).toBe(1);
});

it('survives what JSON has no word for', () => {
  const cycle: Record<string, unknown> = { big: 1n, none: undefined };
  cycle['self'] = cycle;
  const [line = ''] = lines([{ kind: 'tool_call', id: 'a', name: 'n', args: cycle }]);
  expect(JSON.parse(line)).toMatchObject({ payload: { args: { big: 1, none: null, self: null } } });
});

it('holds no raw control character, and reads back as the same text', () => {
  const delta = Array.from({ length: 0x100 }, (_, unit) => String.fromCharCode(unit)).join('');
  const [line = ''] = lines([{ kind: 'text', delta }]);
  // eslint-disable-next-line no-control-regex -- they are what it is about
  expect(line.trimEnd()).not.toMatch(/[\0-\x1f\x7f-\x9f]/);
  expect(JSON.parse(line)).toMatchObject({ payload: { delta } });
});

it('counts a status among the frames', () => {
  const written: string[] = [];
  const write = (text: string): number => written.push(text);
  const writer = new JsonLines({ write, session: 's', turn: () => 'turn-0' });
  writer.render({ kind: 'text', delta: 'a' });
  writer.status('diagnostic', { kind: 'sink_failed', message: 'm' });
  expect(JSON.parse(written[1] ?? '')).toEqual({
    v: 1, session: 's', turn: 'turn-0', seq: 1, event: 'status',
    payload: { phase: 'diagnostic', kind: 'sink_failed', message: 'm' },
  });
});
