import { assertLogValid } from '@celestea/agent-loop/testing';
import type { LoopEvent, SessionEvent } from '@celestea/core';
import { expect, test } from 'vitest';

import { holds } from './laws.ts';
import { endWord } from './model-match.ts';
import type { Ran } from './run-world.ts';
import { numberOf } from './worlds.ts';

/** Whether no seam of the turn broke. */
const isWhole = ({ fault }: Ran): boolean => fault === null;
const isDone = ({ kind }: LoopEvent): boolean => kind === 'done';
const endsOf = (rows: readonly SessionEvent[]): SessionEvent[] =>
  rows.filter(({ type }) => type === 'turn_end');

/** Whether the log takes no more from some row of the turn on. */
const isDead = ({ world, fault }: Ran): boolean =>
  fault !== null && (fault.rows === 0 || world.log.fault?.what === 'append');

const takesNoMore = ({ world, fault }: Ran): boolean =>
  fault !== null && world.log.fault?.what === 'append' && world.log.fault.forever;

test('L2.4 L2.6 L2.7 exactly one end a turn, the same for all, and nothing after it', async () => {
  await holds((ran) => {
    const { rows, events, settled, late, fault } = ran;
    expect(late, 'nothing comes after the turn settled').toEqual({ rows: 0, events: 0, work: 0 });
    const ends = endsOf(rows);
    const told = events.filter(({ kind }) => kind === 'turn_end');
    if (fault?.rows === 0) {
      expect([rows, events]).toEqual([[], []]);
    } else {
      expect(told).toHaveLength(1);
      expect(events.at(-1)?.kind).toBe('turn_end');
      if (!isDead(ran)) expect(ends).toHaveLength(1);
    }
    if (ends.length > 0) expect(rows.at(-1)).toBe(ends[0]);
    const starts = rows.filter(({ type }) => type === 'turn_start');
    expect(starts).toHaveLength(fault?.rows === 0 ? 0 : 1);
    if (fault === null) {
      expect(settled).toEqual({ outcome: expect.anything() as unknown });
      const outcome = 'outcome' in settled ? settled.outcome : undefined;
      expect(ends[0]).toEqual({ type: 'turn_end', id: expect.any(String) as unknown, outcome });
      expect(told).toEqual([{ kind: 'turn_end', outcome }]);
    } else {
      // the very value that the seam threw, whatever it is
      const own = 'error' in settled && Object.is(settled.error, fault.error);
      expect(own, 'its own error').toBe(true);
    }
  });
});

test('L2.7 L4.4 L4.5 L4.6 X11 X17 every call has one result, in its step, in order', async () => {
  await holds((ran) => {
    const { world, rows, started, work } = ran;
    if (isWhole(ran)) assertLogValid(rows);
    const calls = rows.flatMap((row) => (row.type === 'tool_call' ? [row.id] : []));
    const results = rows.flatMap((row) => (row.type === 'tool_result' ? [row] : []));
    const earlier = world.history.flatMap((row) => (row.type === 'tool_call' ? [row.id] : []));
    const ids = [...earlier, ...calls];
    expect(new Set(ids).size, 'ids are unique').toBe(ids.length);
    expect(calls).not.toContain('');
    const answered = results.map(({ id }) => id);
    if (!takesNoMore(ran)) {
      // the row that broke the log may be an answer itself
      const lost = ran.fault?.appending === 'tool_result' ? 1 : 0;
      expect(calls.filter((id) => answered.includes(id))).toEqual(answered);
      expect(calls.length - answered.length).toBeLessThanOrEqual(lost);
    }
    for (const { id, error, abandoned, value } of results) {
      expect(error).not.toBe('');
      if (abandoned === true) expect(started).toContain(id);
      if (error !== 'cancelled before execution') continue;
      expect(value).toBeNull();
      expect(abandoned === true, 'abandoned if it had started').toBe(started.includes(id));
    }
    expect(new Set(started).size, 'no call runs twice').toBe(started.length);
    expect(calls.filter((id) => started.includes(id)), 'they start in order').toEqual(started);
    const width = Math.max(1, Math.floor(numberOf(world.config.parallel)) || 1);
    // a tool that took too long is waited for no more, and may still run
    if (world.timeouts.tool === 0) expect(widest(work)).toBeLessThanOrEqual(width);
  });
});

/** The most tools that ran at once. */
function widest(work: readonly string[]): number {
  let running = 0;
  let most = 0;
  for (const entry of work) {
    running += entry.startsWith('+') ? 1 : -1;
    most = Math.max(most, running);
  }
  return most;
}

/** Rows and events in one language: reasoning joined, replies, calls, results, the end. */
function storyOfRows(rows: readonly SessionEvent[]): string[] {
  return joined(
    rows.flatMap((row): string[] => {
      switch (row.type) {
        case 'thinking_delta':
          return [`think:${row.text}`];
        case 'assistant_message':
          return [`${row.calls_follow === true ? 'words' : 'reply'}:${row.text}`];
        case 'tool_call':
          return [`call:${row.id}:${row.name}`];
        case 'tool_result':
          return [`result:${row.id}:${row.error ?? 'ok'}:${String(row.abandoned)}`];
        case 'turn_end':
          return [endWord(row.outcome)];
        case 'turn_start':
        case 'user_message':
          return [];
      }
    }),
  );
}

function storyOfEvents(events: readonly LoopEvent[]): string[] {
  return joined(
    events.flatMap((event, index): string[] => {
      switch (event.kind) {
        case 'thinking':
          return [`think:${event.delta}`];
        case 'done': {
          if (event.tool_calls.length === 0) return [`reply:${event.text}`];
          const ran = events[index + 1]?.kind === 'tool_call';
          return ran && event.text !== '' ? [`words:${event.text}`] : [];
        }
        case 'tool_call':
          return [`call:${event.id}:${event.name}`];
        case 'tool_result':
          return [`result:${event.callId}:${event.error ?? 'ok'}:${String(event.abandoned)}`];
        case 'turn_end':
          return [endWord(event.outcome)];
        case 'text':
          return [];
      }
    }),
  );
}

function joined(story: readonly string[]): string[] {
  const lines: string[] = [];
  for (const line of story) {
    const thought = line.startsWith('think:');
    if (thought && line === 'think:') continue;
    if (thought && lines.at(-1)?.startsWith('think:') === true) {
      lines.push(`${lines.pop() ?? ''}${line.slice('think:'.length)}`);
    } else lines.push(line);
  }
  return lines.map((line) => line.toWellFormed());
}

test('L7.2 L3.2 L3.4 X15 sink order is log order, each row before its event', async () => {
  await holds((ran) => {
    const { rows, events, rowsAt } = ran;
    if (!isWhole(ran)) return;
    expect(storyOfEvents(events)).toEqual(storyOfRows(rows));
    events.forEach((event, index) => {
      const written = rows.slice(0, rowsAt[index]);
      if (event.kind === 'turn_end') expect(endsOf(written)).toHaveLength(1);
      if (event.kind === 'tool_call') {
        expect(written.some((row) => row.type === 'tool_call' && row.id === event.id)).toBe(true);
      }
      if (event.kind !== 'tool_result') return;
      const row = written.find((of) => of.type === 'tool_result' && of.id === event.callId);
      expect(row).toBeDefined();
      expect(event.ok).toBe(event.error === null);
    });
  });
});

test('L3.5 L4.1 L4.5 X2 a cancel is heard at once: nothing is begun after it', async () => {
  await holds((ran) => {
    const { aborts, requests, started, delivered, rows, events, settled, signals } = ran;
    const [first] = aborts;
    const outcome = 'outcome' in settled ? settled.outcome : undefined;
    if (first === undefined) {
      expect(outcome).not.toBe('cancelled');
      const { stream, tool } = ran.world.timeouts;
      const ended = outcome === 'completed' && stream + tool === 0;
      if (ended) expect(signals.map((signal) => signal?.aborted)).not.toContain(true);
      return;
    }
    expect(requests, 'no request after it').toHaveLength(first.requests);
    expect(started, 'no tool after it').toHaveLength(first.started);
    if (!isWhole(ran)) return;
    for (const signal of signals) {
      if (outcome === 'cancelled' && signal?.aborted === true && ran.world.timeouts.tool === 0) {
        expect(isReason(signal.reason, first.reason), 'its own reason').toBe(true);
      }
    }
    if (outcome === 'cancelled') return;
    const last = events.findLastIndex(isDone);
    const decided = last >= 0 && last < first.events;
    const replied = rows.at(-2)?.type === 'assistant_message';
    if (replied && (decided || first.appending === 'assistant_message')) return;
    expect(first.rows, 'only the end was left to write').toBeGreaterThanOrEqual(rows.length - 1);
    if (ran.world.timeouts.stream > 0) return; // what comes too late is read by nobody
    expect(delivered, 'no event was read after it').toHaveLength(first.delivered);
  });
});

/** A cancel without a reason gets one from the platform. */
const isReason = (reason: unknown, given: unknown): boolean =>
  Object.is(reason, given) ||
  (given === undefined && reason instanceof DOMException && reason.name === 'AbortError');

test('L3.6 L6.2 L6.4 X5 X13 X15 the turn settles, and leaves nothing behind', async () => {
  await holds(({ left, unhandled, fates }) => {
    expect(left, 'listeners and timers').toEqual({ listeners: 0, timers: 0 });
    expect(unhandled).toEqual([]);
    for (const fate of fates) {
      if (fate.length === 0) continue;
      expect(fate, 'a stream that is left early is closed').not.toEqual(['opened']);
      expect(fate.filter((of) => of === 'closed').length).toBeLessThanOrEqual(1);
    }
  });
});

test('X4 a request, a tool and the end wait until the rows before them are durable', async () => {
  await holds(({ early }) => {
    expect(early).toEqual([]);
  });
});
