import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { callTools, done, FakeToolRegistry, Gate, say, think } from '@celestea/agent-loop/testing';
import type { SessionEvent } from '@celestea/core';
import { JsonlSessionLog } from '@celestea/session';
import { describe, expect, test, vi } from 'vitest';

import { checkHostOptions } from '../src/http/host-options.ts';
import { Hub } from '../src/http/hub.ts';
import { messagePage } from '../src/http/message-rows.ts';
import { StreamedReply } from '../src/sessions/running-turn.ts';
import { lastFrame } from './events-support.ts';
import { errorOf, withHost, type TestHost } from './http-support.ts';
import { fileText, partsOf, testFolder, turnRows } from './sessions-support.ts';

const call = { id: 'call-1', name: 'work', args: { of: 2 } };
const text = (words: string) => ({ kind: 'text', text: words }) as const;

const stateOf = async (host: TestHost, id: string): Promise<Record<string, unknown>> =>
  (await host.get(`/api/sessions/${id}`)).body;

const rowsOf = async (host: TestHost, id: string, query = ''): Promise<Record<string, unknown>> =>
  (await host.get(`/api/sessions/${id}/messages${query}`)).body;

/** What a page of rows comes to. */
interface Page {
  readonly places: readonly number[];
  readonly previous: number | null;
  readonly next: number | null;
}

/** The places of the rows in a reply. */
const placesIn = (body: Record<string, unknown>): unknown[] =>
  (body['messages'] as { at: number }[]).map(({ at }) => at);

describe('the state of a running turn', () => {
  test('has what was streamed of the reply and stands in no row, and its input', async () => {
    const [early, late] = [new Gate(), new Gate()];
    const script = [
      think('Hm'),
      think(', so.'),
      () => early.wait(),
      text('Good '),
      text('morning'),
      () => late.wait(),
      ...say('!'),
    ];
    await withHost({ scripts: [script] }, async (host) => {
      const id = await host.session();
      const reader = await host.events(id);
      const turn = await host.turn(id, 'greet me');
      await reader.until(({ payload }) => payload['delta'] === ', so.');
      const thought = await stateOf(host, id);
      expect(thought).toMatchObject({
        rows: 2,
        running: { turn, input: 'greet me', reply: { text: '', thinking: 'Hm, so.' } },
      });
      early.open();
      await reader.until(({ payload }) => payload['delta'] === 'morning');
      const spoken = await stateOf(host, id);
      expect(spoken).toMatchObject({
        rows: 3,
        running: { reply: { text: 'Good morning', thinking: '' } },
        last_event_id: reader.seen.at(-1)?.id,
      });
      late.open();
      await reader.untilEnd(turn);
      await reader.close();
      expect(await stateOf(host, id)).toMatchObject({ rows: 5, running: null });
    });
  });

  test('holds nothing of a reply while its tools run', async () => {
    const gate = new Gate();
    const scripts = [[think('Hm.'), text('I look.'), done('I look.', call)], say('Done.')];
    const tools = (): FakeToolRegistry => new FakeToolRegistry({ work: () => gate.wait() });
    await withHost({ scripts, tools }, async (host) => {
      const id = await host.session();
      const reader = await host.events(id);
      const turn = await host.turn(id);
      await reader.until(({ name }) => name === 'tool');
      const state = await stateOf(host, id);
      expect(state).toMatchObject({ rows: 5, running: { reply: { text: '', thinking: '' } } });
      gate.open();
      await reader.untilEnd(turn);
      await reader.close();
    });
  });

  test('is told with the reply to a reader that lagged', async () => {
    const gate = new Gate();
    const script = [text('one '), text('two '), () => gate.wait(), ...say('three')];
    await withHost({ scripts: [script], ring: { maxEvents: 2 } }, async (host) => {
      const id = await host.session();
      const watcher = await host.events(id);
      const turn = await host.turn(id, 'count');
      await watcher.until(({ payload }) => payload['delta'] === 'two ');
      const late = await host.events(id, 0);
      const { payload } = await late.until(({ name }) => name === 'status');
      const running = { turn, input: 'count', reply: { text: 'one two ', thinking: '' } };
      expect(payload).toMatchObject({ phase: 'lagged', snapshot: { running } });
      gate.open();
      await watcher.untilEnd(turn);
      await watcher.close();
      await late.close();
    });
  });
});

describe('a reply that is streamed', () => {
  const rows: [string, SessionEvent, { text: string; thinking: string }][] = [
    ['a burst of thinking', { type: 'thinking_delta', text: 'b' }, { text: 'a', thinking: '' }],
    ['its text', { type: 'assistant_message', text: 'a' }, { text: '', thinking: '' }],
    ['one of its calls', { type: 'tool_call', ...call }, { text: '', thinking: '' }],
    [
      'the end of the turn',
      { type: 'turn_end', id: 'turn-0', outcome: 'cancelled' },
      { text: '', thinking: '' },
    ],
    ['what a user said', { type: 'user_message', text: 'a' }, { text: 'a', thinking: 'b' }],
    [
      'a result',
      { type: 'tool_result', id: 'call-1', value: 1, error: null },
      { text: 'a', thinking: 'b' },
    ],
  ];

  test.each(rows)('after the row with %s holds what no row has', (_, row, left) => {
    const reply = new StreamedReply();
    reply.text += 'a';
    reply.thinking += 'b';
    reply.onRow(row);
    expect({ text: reply.text, thinking: reply.thinking }).toEqual(left);
  });
});

describe('a session that is not open', () => {
  test('has as many rows as can be read of its file', async () => {
    await withHost({}, async (host) => {
      const id = await host.session();
      expect(await stateOf(host, id)).toMatchObject({ rows: 0, running: null });
      const path = join(host.folder, `${id}.jsonl`);
      writeFileSync(path, fileText(turnRows(0, 'hi', 'Hello.')));
      expect(await stateOf(host, id)).toMatchObject({ rows: 4 });
      appendFileSync(path, '{"type":"user_mess');
      expect(await stateOf(host, id)).toMatchObject({ rows: 4 });
    });
  });

  test('is looked at again when a turn ran in it while its file was read', async () => {
    const parts = partsOf({ generate: () => Promise.reject(new Error('none')) });
    const hub = new Hub(checkHostOptions({ folder: testFolder(), parts, page: null }));
    const id = await hub.store.create();
    const read = vi.spyOn(hub.store, 'rows').mockImplementationOnce(async () => {
      const session = await hub.live.get(id);
      const isOver = new Promise((resolve) => {
        const ring = hub.rings.of(id);
        ring.subscribe(() => {
          if (lastFrame(ring).includes('"usage"')) resolve(null);
        });
      });
      session.startTurn('hello');
      await isOver;
      vi.spyOn(hub.live, 'peek').mockReturnValueOnce(null); // as if it was closed again
      return [];
    });
    const state = await hub.state(id);
    expect(read).toHaveBeenCalledOnce();
    expect(state).toMatchObject({ rows: 3, running: null, last_event_id: hub.rings.lastSeq(id) });
    await hub.close();
  });
});

describe('the rows of an open session', () => {
  test('are read from the disk once, and kept up while turns run', async () => {
    const scripts = [say('One.'), callTools(call), say('Two.')];
    const tools = (): FakeToolRegistry =>
      new FakeToolRegistry({
        work: (args) => {
          (args as Record<string, unknown>)['of'] = 'changed by the tool';
          return args;
        },
      });
    await withHost({ scripts, tools }, async (host) => {
      const id = await host.session();
      await host.wholeTurn(id);
      const reads = vi.spyOn(JsonlSessionLog.prototype, 'events');
      await rowsOf(host, id);
      const turn = await host.turn(id, 'again');
      const reader = await host.events(id);
      await reader.untilEnd(turn);
      await reader.close();
      const kept = await rowsOf(host, id);
      const state = await stateOf(host, id);
      expect(reads).toHaveBeenCalledOnce();
      reads.mockRestore();

      const log = await JsonlSessionLog.open(join(host.folder, `${id}.jsonl`), { readOnly: true });
      const written = messagePage(log.events(), { kind: 'after', at: -1 }, 100);
      expect(kept).toEqual({ ok: true, ...written });
      expect(state['rows']).toBe(log.report.rows);
      expect(kept['messages']).toMatchObject(
        Array.from({ length: 8 }, (_, index) => (index === 4 ? { args: { of: 2 } } : {})),
      );
    });
  });
});

describe('pages of rows', () => {
  const rows = [...turnRows(0, 'a', 'b'), ...turnRows(1, 'c', 'd')]; // 1–3 and 5–7 are read

  type Pages = [kind: 'after' | 'before', at: number, limit: number, page: Page];

  test.each<Pages>([
    ['after', -1, 3, { places: [1, 2, 3], previous: null, next: 3 }],
    ['after', 3, 2, { places: [5, 6], previous: 5, next: 6 }],
    ['after', 6, 2, { places: [7], previous: 7, next: null }],
    ['after', 7, 2, { places: [], previous: null, next: null }],
    ['after', 99, 2, { places: [], previous: null, next: null }],
    ['before', 8, 3, { places: [5, 6, 7], previous: 5, next: null }],
    ['before', 99, 1, { places: [7], previous: 7, next: null }],
    ['before', 5, 3, { places: [1, 2, 3], previous: null, next: 3 }],
    ['before', 3, 9, { places: [1, 2], previous: null, next: 2 }],
    ['before', 1, 9, { places: [], previous: null, next: null }],
    ['before', 0, 9, { places: [], previous: null, next: null }],
  ])('%s %i, at most %i, are in order and say where others begin', (kind, at, limit, page) => {
    const { places, previous, next } = page;
    const { messages, ...beside } = messagePage(rows, { kind, at }, limit);
    expect(messages.map((message) => message.at)).toEqual(places);
    expect(beside).toEqual({ previous, next });
    for (const { at: place, turn } of messages) expect(turn).toBe(place < 4 ? 'turn-0' : 'turn-1');
  });

  test('lead from the last to the first over HTTP', async () => {
    await withHost({}, async (host) => {
      const id = await host.session();
      writeFileSync(join(host.folder, `${id}.jsonl`), fileText(rows));
      const last = await rowsOf(host, id, '?before=8&limit=4');
      expect([placesIn(last), last['previous'], last['next']]).toEqual([[3, 5, 6, 7], 3, null]);
      const first = await rowsOf(host, id, '?before=3&limit=4');
      expect([placesIn(first), first['previous'], first['next']]).toEqual([[1, 2], null, 2]);
    });
  });

  test('are not asked for behind one place and before another', async () => {
    await withHost({}, async (host) => {
      const id = await host.session();
      const reply = await host.get(`/api/sessions/${id}/messages?after=1&before=3`);
      expect(reply.status).toBe(400);
      expect(errorOf(reply)).toMatchObject({
        code: 'invalid',
        message: 'query.before: expected none beside after, got 3',
        details: { issues: [{ field: 'query.before' }] },
      });
    });
  });

  test.each(['before=-1', 'before=1.5', 'before=x', 'before='])('%s is refused', async (query) => {
    await withHost({}, async (host) => {
      const reply = await host.get(`/api/sessions/${await host.session()}/messages?${query}`);
      expect(reply.status).toBe(400);
    });
  });
});
