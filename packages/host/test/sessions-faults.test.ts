import { readFileSync } from 'node:fs';

import {
  assertLogValid,
  callTools,
  FakeToolRegistry,
  Gate,
  say,
  ScriptedLlm,
} from '@celestea/agent-loop/testing';
import { JsonlSessionLog } from '@celestea/session';
import { describe, expect, test } from 'vitest';

import { HostError } from '../src/sessions/index.ts';
import { codeOf, diskError, FaultyDisk, liveSession, partsOf } from './sessions-support.ts';

describe('a disk that fails', () => {
  test('in a row that it did not take, leaves the session usable', async () => {
    const disk = new FaultyDisk();
    const { session, reader, rows } = await liveSession(
      partsOf(new ScriptedLlm([say('Hello.'), say('Again.')])),
      disk,
    );
    disk.onWrite = (text) => {
      if (text.includes('assistant_message')) throw diskError('ENOSPC');
    };
    const end = await reader.end(session.startTurn('hi'));
    expect(end.payload).toMatchObject({ phase: 'error', error: 'ENOSPC: injected' });
    expect(session.broken).toBeNull();
    disk.onWrite = () => undefined;
    expect((await reader.end(session.startTurn('hi'))).payload['phase']).toBe('completed');
    assertLogValid(rows());
  });

  test('in the first row of a turn, leaves the session usable', async () => {
    const disk = new FaultyDisk();
    const { session, reader, rows } = await liveSession(
      partsOf(new ScriptedLlm([say('Hello.')])),
      disk,
    );
    disk.onWrite = () => {
      throw diskError('ENOSPC');
    };
    const turn = session.startTurn('hi');
    const end = await reader.end(turn);
    expect(end.payload).toMatchObject({ phase: 'error', error: 'ENOSPC: injected' });
    expect(session.broken).toBeNull();
    expect(rows()).toEqual([]);
    disk.onWrite = () => undefined;
    const next = session.startTurn('hi');
    expect(next).not.toBe(turn);
    expect((await reader.end(next)).payload['phase']).toBe('completed');
  });

  test('with the last rows of a turn, breaks the session', async () => {
    const disk = new FaultyDisk();
    const { session, reader } = await liveSession(partsOf(new ScriptedLlm([say('Hello.')])), disk);
    disk.onWrite = (text) => {
      if (text.includes('turn_end')) disk.syncError = diskError('EIO');
    };
    const end = await reader.end(session.startTurn('hi'));
    const error = 'session a-session cannot be written: its disk failed: EIO: injected';
    expect(end.payload).toMatchObject({ phase: 'error', error });
    expect(session.broken).toBe(error);
  });

  test('at the end of a turn, leaves it to be opened anew', async () => {
    const disk = new FaultyDisk();
    const { session, reader, path } = await liveSession(
      partsOf(new ScriptedLlm([say('Hello.')])),
      disk,
    );
    disk.onWrite = (text) => {
      if (text.includes('turn_end')) throw diskError('ENOSPC');
    };
    const end = await reader.end(session.startTurn('hi'));
    expect(end.payload).toMatchObject({ phase: 'error', error: 'ENOSPC: injected' });
    expect(session.broken).toBe(
      'session a-session could not write the end of a turn: ENOSPC: injected',
    );
    expect(await codeOf(() => session.startTurn('again'))).toBe('failed');
    expect(readFileSync(path, 'utf8')).not.toContain('turn_end');
  });

  test('for good, breaks the session, and no path is told', async () => {
    const disk = new FaultyDisk();
    const { session, reader, path } = await liveSession(
      partsOf(new ScriptedLlm([say('Hello.')])),
      disk,
    );
    disk.syncError = diskError('EIO');
    const end = await reader.end(session.startTurn('hi'));
    const error = 'session a-session cannot be written: its disk failed: EIO: injected';
    expect(end.payload).toMatchObject({ phase: 'error', error });
    expect(session.broken).toBe(error);
    expect(session.running()).toBeNull();
    expect(() => session.startTurn('again')).toThrow(new HostError('failed', error));
    expect(JSON.stringify(reader.events)).not.toContain(path);
    await expect(session.close()).rejects.toMatchObject({ code: 'failed', message: error });
  });

  test('tools that cannot be read do not break the session', async () => {
    const registry = new FakeToolRegistry();
    registry.schemas = () => {
      throw new Error('no schemas today');
    };
    const parts = partsOf(new ScriptedLlm([]), { tools: () => registry });
    const { session, reader, rows } = await liveSession(parts);
    const end = await reader.end(session.startTurn('hi'));
    expect(end.payload).toMatchObject({ phase: 'error', error: 'no schemas today' });
    expect(session.broken).toBeNull();
    assertLogValid(rows());
  });
});

describe('closing', () => {
  test('cancels what runs, waits for it, and lets go of the log', async () => {
    const gate = new Gate();
    const llm = new ScriptedLlm([callTools({ id: 'a', name: 'wait', args: {} })]);
    const tools = (): FakeToolRegistry => new FakeToolRegistry({ wait: () => gate.wait() });
    const { session, reader, path } = await liveSession(partsOf(llm, { tools }));
    const turn = session.startTurn('go');
    await reader.until(({ name }) => name === 'tool');
    await Promise.all([session.close(), session.close()]);
    const end = await reader.end(turn);
    expect(end.payload).toMatchObject({ phase: 'cancelled', reason: 'the session is closed' });
    expect(session.running()).toBeNull();
    const again = await JsonlSessionLog.open(path);
    expect(again.report.interruptedTurn).toBeNull();
    await again.close();
    gate.open();
  });

  test('a closed session is gone', async () => {
    const { session } = await liveSession(partsOf(new ScriptedLlm([])));
    await session.close();
    expect(session.isClosed).toBe(true);
    for (const use of [
      () => session.startTurn('hi'),
      () => { session.steer('hi'); },
      () => { session.cancel(); },
      () => session.context(),
    ]) {
      expect(await codeOf(use)).toBe('gone');
    }
  });
});
