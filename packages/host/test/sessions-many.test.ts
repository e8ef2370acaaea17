import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import {
  assertLogValid,
  callTools,
  FakeToolRegistry,
  Gate,
  HangingLlm,
  say,
  ScriptedLlm,
} from '@celestea/agent-loop/testing';
import type { Llm, SessionEvent } from '@celestea/core';
import { JsonlSessionLog } from '@celestea/session';
import { describe, expect, onTestFinished, test } from 'vitest';

import { SessionStore } from '../src/sessions/index.ts';
import { LiveSessions, type LiveSessionsOptions } from '../src/sessions/live-sessions.ts';
import {
  codeOf,
  diskError,
  FaultyDisk,
  fileText,
  othersTurn,
  partsOf,
  Reader,
  testFolder,
  turnRows,
} from './sessions-support.ts';

const words = (): Llm => ({ generate: (request) => new ScriptedLlm([say('Hello.')]).generate(request) });

/** Sessions over a new folder, with one reader for all of them; closed when the test is over. */
function newSessions(
  options: Partial<LiveSessionsOptions> = {},
): { store: SessionStore; sessions: LiveSessions; reader: Reader; opened: string[] } {
  const store = new SessionStore(testFolder());
  const reader = new Reader();
  const opened: string[] = [];
  const counting = {
    open: (id: string): Promise<JsonlSessionLog> => {
      opened.push(id);
      return store.open(id);
    },
  };
  const sessions = new LiveSessions({
    store: counting,
    publish: () => reader.publish,
    parts: partsOf(words()),
    maxOpen: 16,
    ...options,
  });
  onTestFinished(async () => {
    await sessions.closeAll().catch(() => undefined);
  });
  return { store, sessions, reader, opened };
}

const isOpen = ({ folder }: SessionStore, id: string): boolean =>
  existsSync(join(folder, `${id}.jsonl.lock`));

const create = (store: SessionStore, count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, () => store.create()));

/** Lets what is surplus be closed. */
async function settled(store: SessionStore, closed: string): Promise<void> {
  while (isOpen(store, closed)) await othersTurn();
}

describe('getting a session', () => {
  test('those who ask at the same time share one, which is opened once', async () => {
    const { store, sessions, opened } = newSessions();
    const id = await store.create();
    const got = await Promise.all([1, 2, 3, 4].map(() => sessions.get(id)));
    expect(new Set(got).size).toBe(1);
    expect(await sessions.get(id)).toBe(got[0]);
    expect(sessions.peek(id)).toBe(got[0]);
    expect(opened).toEqual([id]);
  });

  test('one that cannot be opened is an error for all who asked, and is tried again', async () => {
    const { store, sessions, opened } = newSessions();
    const id = await store.create();
    const log = await store.open(id);
    const codes = await Promise.all([1, 2].map(() => codeOf(() => sessions.get(id))));
    expect(codes).toEqual(['busy', 'busy']);
    expect(sessions.peek(id)).toBeNull();
    await log.close();
    expect((await sessions.get(id)).id).toBe(id);
    expect(opened).toEqual([id, id]);
    expect(await codeOf(() => sessions.get('../x'))).toBe('not_found');
    expect(await codeOf(() => sessions.get('nothing-here'))).toBe('not_found');
  });

  test('tools that cannot be made leave no log open', async () => {
    const tools = (): never => {
      throw new Error('no tools');
    };
    const { store, sessions } = newSessions({ parts: partsOf(words(), { tools }) });
    const id = await store.create();
    await expect(sessions.get(id)).rejects.toThrow('no tools');
    expect(isOpen(store, id)).toBe(false);
  });
});

describe('a turn that its process did not end', () => {
  const died: SessionEvent[] = [
    ...turnRows(0, 'one', 'first'),
    { type: 'turn_start', id: 'turn-1' },
    { type: 'user_message', text: 'two' },
    { type: 'tool_call', id: 'a', name: 'x', args: {} },
  ];

  test('is shown as interrupted, and the session goes on', async () => {
    const { store, sessions, reader } = newSessions();
    writeFileSync(join(store.folder, 'a.jsonl'), fileText(died));
    const session = await sessions.get('a');
    expect(reader.events).toEqual([
      { name: 'status', turn: null, payload: { phase: 'interrupted', turn: 'turn-1' } },
    ]);
    expect((await store.rows('a')).slice(died.length)).toMatchObject([
      { type: 'tool_result', id: 'a', abandoned: true },
      { type: 'turn_end', id: 'turn-1', outcome: 'interrupted' },
    ]);
    const end = await reader.end(session.startTurn('three'));
    expect(end.payload).toMatchObject({ phase: 'completed', turn: 'turn-2' });
    assertLogValid(await store.rows('a'));
  });
});

describe('how many stay open', () => {
  test('of those in which nothing runs, the last used', async () => {
    const { store, sessions, opened } = newSessions({ maxOpen: 2 });
    const [a = '', b = '', c = ''] = await create(store, 3);
    const first = await sessions.get(a);
    await sessions.get(b);
    await sessions.get(a);
    await sessions.get(c);
    await settled(store, b);
    expect([a, b, c].map((id) => isOpen(store, id))).toEqual([true, false, true]);
    expect(sessions.peek(b)).toBeNull();
    expect(await sessions.get(a)).toBe(first);
    await sessions.get(b);
    await settled(store, c);
    expect(opened).toEqual([a, b, c, b]);
  });

  test('one that runs is not closed before its turn is over', async () => {
    const gate = new Gate();
    const llm = new ScriptedLlm([callTools({ id: 'a', name: 'wait', args: {} }), say('Done.')]);
    const tools = (): FakeToolRegistry => new FakeToolRegistry({ wait: () => gate.wait() });
    const { store, sessions, reader } = newSessions({ maxOpen: 1, parts: partsOf(llm, { tools }) });
    const [a = '', b = '', c = ''] = await create(store, 3);
    const running = await sessions.get(a);
    const turn = running.startTurn('go');
    await sessions.get(b);
    await sessions.get(c);
    await settled(store, b);
    expect(isOpen(store, a)).toBe(true);
    expect(running.running()).toMatchObject({ turn });
    gate.open();
    expect((await reader.end(turn)).payload['phase']).toBe('completed');
    await settled(store, a);
    expect(isOpen(store, c)).toBe(true);
    assertLogValid(await store.rows(a));
  });

  test('whoever is given a session can use it, however many are opened at once', async () => {
    const folder = testFolder();
    const ids = Array.from({ length: 8 }, (_, n) => `s-${String(n)}`);
    const open = (id: string): Promise<JsonlSessionLog> =>
      JsonlSessionLog.open(join(folder, `${id}.jsonl`));
    const logs = new Map(await Promise.all(ids.map(async (id) => [id, await open(id)] as const)));
    const store = { open: (id: string) => Promise.resolve(logs.get(id)).then(async (log) => log ?? open(id)) };
    const { sessions, reader } = newSessions({ maxOpen: 1, store });
    const turns = ids.map(async (id) => (await sessions.get(id)).startTurn(`hi ${id}`));
    expect(await Promise.all(turns)).toEqual(ids.map(() => 'turn-0'));
    await reader.until(() => reader.words().filter((word) => word === 'completed').length === 8);
  });

  test('one that is being closed is waited for, and opened anew', async () => {
    const { store, sessions, reader, opened } = newSessions({ maxOpen: 1 });
    const [a = '', b = ''] = await create(store, 2);
    const former = await sessions.get(a);
    await sessions.get(b);
    while (!former.isClosed) await othersTurn();
    const again = await sessions.get(a);
    expect(again).not.toBe(former);
    await reader.end(again.startTurn('hi'));
    expect(opened).toEqual([a, b, a]);
  });

  test('one that somebody closed is opened anew', async () => {
    const { store, sessions } = newSessions();
    const id = await store.create();
    const former = await sessions.get(id);
    await former.close();
    const again = await sessions.get(id);
    expect(again).not.toBe(former);
    expect(again.isClosed).toBe(false);
  });
});

describe('a disk that fails', () => {
  const faulty = (disk: FaultyDisk, folder: string): LiveSessionsOptions['store'] => ({
    open: (id) => JsonlSessionLog.open(join(folder, `${id}.jsonl`), { fileSystem: disk }),
  });

  test('a session that it broke is opened anew when it is asked for again', async () => {
    const folder = testFolder();
    const disk = new FaultyDisk();
    const { sessions, reader } = newSessions({ store: faulty(disk, folder) });
    const session = await sessions.get('a');
    disk.onWrite = (text) => {
      if (text.includes('turn_end')) throw diskError('ENOSPC');
    };
    await reader.end(session.startTurn('hi'));
    expect(session.broken).not.toBeNull();
    disk.onWrite = () => undefined;
    const again = await sessions.get('a');
    expect(again).not.toBe(session);
    expect((await reader.status('interrupted')).payload).toMatchObject({ turn: 'turn-0' });
    expect((await reader.end(again.startTurn('hi'))).payload['turn']).toBe('turn-1');
    const path = join(folder, 'a.jsonl');
    expect(readFileSync(path, 'utf8')).toContain('"outcome":"interrupted"');
  });

  test('that fails when a session is closed on the side is told of', async () => {
    const folder = testFolder();
    const { sessions, reader } = newSessions({
      maxOpen: 1,
      store: {
        open: async (id) => {
          const log = await JsonlSessionLog.open(join(folder, `${id}.jsonl`));
          const close = log.close.bind(log);
          log.close = async () => {
            await close();
            if (id === 'a') throw diskError('EIO');
          };
          return log;
        },
      },
    });
    await sessions.get('a');
    await sessions.get('b');
    const message = 'session a cannot be used: EIO';
    expect(await reader.status('diagnostic')).toEqual({
      name: 'status',
      turn: null,
      payload: { phase: 'diagnostic', kind: 'close', message },
    });
    await sessions.get('a');
    await expect(sessions.closeAll()).rejects.toMatchObject({ code: 'failed' });
  });
});

describe('closing all', () => {
  test('cancels what runs, lets go of every log, and opens none after that', async () => {
    const { store, sessions, reader } = newSessions({ parts: partsOf(new HangingLlm()) });
    const ids = await create(store, 3);
    const open = await Promise.all(ids.map((id) => sessions.get(id)));
    const turn = open[0]?.startTurn('go') ?? '';
    const opening = sessions.get(await store.create());
    const refused = codeOf(() => opening);
    await Promise.all([sessions.closeAll(), sessions.closeAll()]);
    expect((await reader.end(turn)).payload['phase']).toBe('cancelled');
    expect((await store.list()).filter(({ id }) => isOpen(store, id))).toEqual([]);
    expect(await refused).toBe('gone');
    expect(await codeOf(() => sessions.get(ids[0] ?? ''))).toBe('gone');
  });

  test('leaves a session to be looked at until it is closed', async () => {
    const phases: [unknown, boolean][] = [];
    const made = newSessions({
      parts: partsOf(new HangingLlm()),
      publish: (id) => ({ name, payload }) => {
        const phase = name === 'status' ? payload.phase : name;
        phases.push([phase, made.sessions.peek(id) !== null && made.sessions.holds(id)]);
      },
    });
    const id = await made.store.create();
    (await made.sessions.get(id)).startTurn('go');
    await made.sessions.closeAll();
    expect(phases.at(-1)).toEqual(['cancelled', true]);
    expect([made.sessions.peek(id), made.sessions.holds(id)]).toEqual([null, false]);
  });
});
