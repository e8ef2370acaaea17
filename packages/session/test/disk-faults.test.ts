import {
  appendFileSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';

import { defaultAgentConfig, type SessionEvent, type ToolCall } from '@celestea/core';
import { JsonlSessionLog, SessionLogBrokenError } from '@celestea/session';
import { describe, expect, test } from 'vitest';

import {
  assertLogValid,
  createAgentLoop,
  done,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
  think,
} from './support/agent-loop.ts';
import { testFile } from './support/folder.ts';
import { fileText, user } from './support/rows.ts';
import { diskError, TestDisk } from './support/test-disk.ts';

async function openOn(disk: TestDisk): Promise<JsonlSessionLog> {
  const log = await JsonlSessionLog.open(testFile(), { fileSystem: disk });
  [disk.writes, disk.syncs] = [0, 0];
  return log;
}

/** The rows that are there after the fault, on a disk that works again. */
async function reopenedRows(path: string): Promise<SessionEvent[]> {
  const log = await JsonlSessionLog.open(path);
  const rows = log.events();
  await log.close();
  return rows;
}

const append = (log: JsonlSessionLog, text: string) => (): void => {
  log.append(user(text));
};

describe('writes', () => {
  test.each([1, 3, 7])('C4.2 short ones of %i bytes are gone on with', async (most) => {
    const disk = new TestDisk();
    const log = await openOn(disk);
    disk.onWrite = (_, length) => Math.min(most, length);
    const rows = ['naïve', '漢字', '😀'].map(user);
    for (const row of rows) log.append(row);
    await log.close();
    expect(readFileSync(log.path, 'utf8')).toBe(fileText(rows));
  });

  test.each(['ENOSPC', 'EIO'] as const)('C4.2 %s takes nothing: the log goes on', async (code) => {
    const disk = new TestDisk();
    const log = await openOn(disk);
    log.append(user('a'));
    const fault = diskError(code);
    disk.onWrite = () => {
      throw fault;
    };
    expect(append(log, 'lost')).toThrow(fault);
    expect(append(log, 'lost too')).toThrow(fault);
    disk.onWrite = (_, length) => length;
    log.append(user('b'));
    expect(log.events()).toEqual([user('a'), user('b')]);
    expect(log.deriveMessages()).toHaveLength(2);
    await log.close();
    expect(readFileSync(log.path, 'utf8')).toBe(fileText([user('a'), user('b')]));
  });

  test('C4.2 a fault at any byte of a row: it is taken back, and the log goes on', async () => {
    const disk = new TestDisk();
    const log = await openOn(disk);
    log.append(user('a'));
    const row = user('ä😀');
    const { length } = new TextEncoder().encode(fileText([row]));
    for (let taken = 0; taken < length; taken += 1) {
      disk.onWrite = (_, asked) => {
        if (asked < length) throw diskError('ENOSPC');
        return taken;
      };
      expect(() => {
        log.append(row);
      }).toThrow(taken === 0 ? 'the disk took no bytes' : 'ENOSPC');
      expect(readFileSync(log.path, 'utf8')).toBe(fileText([user('a')]));
    }
    disk.onWrite = (_, asked) => asked;
    log.append(user('b'));
    await log.close();
    expect(await reopenedRows(log.path)).toEqual([user('a'), user('b')]);
  });

  /** Half a row is written, and then the disk is full. */
  const half = (disk: TestDisk): void => {
    let first = true;
    disk.onWrite = (_, length) => {
      if (!first) throw diskError('ENOSPC');
      first = false;
      return Math.floor(length / 2);
    };
  };

  test('C4.2 half a row that stays breaks the log; reopened it is cut off', async () => {
    const disk = new TestDisk();
    const log = await openOn(disk);
    log.append(user('a'));
    await log.flush();
    half(disk);
    disk.onTruncate = () => {
      throw diskError('EIO');
    };
    const reason = 'half a row could not be taken back: ENOSPC: injected';
    expect(append(log, 'lost')).toThrow(`${log.path} cannot be written: ${reason}`);
    [disk.onWrite, disk.onTruncate] = [(_, length) => length, () => undefined];
    expect(append(log, 'after')).toThrow(SessionLogBrokenError);
    expect(() => {
      log.clear();
    }).toThrow(reason);
    await expect(log.flush()).rejects.toThrow(reason);
    expect(log.events()).toEqual([user('a')]);
    await expect(log.close()).rejects.toThrow(reason);
    const again = await JsonlSessionLog.open(log.path);
    expect(again.report.tornBytes).toBeGreaterThan(0);
    expect(again.events()).toEqual([user('a')]);
    await again.close();
  });

  test('C4.2 what somebody else wrote behind half a row is not taken back with it', async () => {
    const disk = new TestDisk();
    const log = await openOn(disk);
    half(disk);
    const { onWrite } = disk;
    disk.onWrite = (time, length) => {
      if (time === 2) appendFileSync(log.path, 'theirs');
      return onWrite(time, length);
    };
    expect(append(log, 'lost')).toThrow('half a row could not be taken back');
    expect(readFileSync(log.path, 'utf8')).toMatch(/theirs$/);
    await expect(log.close()).rejects.toThrow(SessionLogBrokenError);
  });

  test('C4.2 a clear that fails changes nothing', async () => {
    const disk = new TestDisk();
    const log = await openOn(disk);
    log.append(user('a'));
    disk.onTruncate = () => {
      throw diskError('EIO');
    };
    expect(() => {
      log.clear();
    }).toThrow('EIO');
    log.append(user('b'));
    expect(log.events()).toEqual([user('a'), user('b')]);
    expect(log.deriveMessages()).toHaveLength(2);
    await log.close();
  });
});

describe('syncs', () => {
  test.each(['reported', 'thrown'])('X4 a fault (%s) breaks the log for good', async (how) => {
    const disk = new TestDisk();
    const log = await openOn(disk);
    log.append(user('a'));
    await log.flush();
    disk.onSync = () => {
      if (how === 'thrown') throw diskError('EIO');
      return diskError('EIO');
    };
    log.append(user('b'));
    const flushes = await Promise.allSettled([log.flush(), log.flush(), log.flush()]);
    disk.onSync = () => null;
    const message = `${log.path} cannot be written: its disk failed: EIO: injected`;
    for (const flush of flushes) {
      expect(flush).toMatchObject({ status: 'rejected', reason: { message } });
    }
    await expect(log.flush()).rejects.toThrow(message); // a second try would tell a lie
    expect(append(log, 'c')).toThrow(message);
    expect(disk.syncs).toBe(2);
    expect(log.events()).toEqual([user('a'), user('b')]);
    await expect(log.close()).rejects.toThrow(message);
    expect(await reopenedRows(log.path)).toEqual([user('a'), user('b')]);
  });

  test.each<[string, boolean]>([
    ['EIO', true],
    ['EPERM', false],
    ['EISDIR', false],
    ['EINVAL', false],
  ])('X4 a folder that answers %s: fails the opening is %s', async (code, fails) => {
    const disk = new TestDisk();
    disk.fsyncSync = () => {
      throw Object.assign(new Error(code), { code });
    };
    const opening = JsonlSessionLog.open(testFile(), { fileSystem: disk });
    if (fails) await expect(opening).rejects.toThrow('its disk failed: EIO');
    else await (await opening).close();
  });
});

describe('a file that somebody else changed', () => {
  const changes: [string, (path: string) => void, string][] = [
    ['removed', rmSync, 'the file was removed or replaced'],
    [
      'replaced',
      (path) => {
        writeFileSync(`${path}.new`, readFileSync(path));
        renameSync(`${path}.new`, path);
      },
      'the file was removed or replaced',
    ],
    [
      'moved away',
      (path) => {
        renameSync(path, `${path}.old`);
      },
      'the file was removed or replaced',
    ],
    [
      'cut',
      (path) => {
        truncateSync(path, 5);
      },
      'the file was cut shorter by somebody else',
    ],
    [
      'appended to',
      (path) => {
        appendFileSync(path, fileText([user('theirs')]));
      },
      'somebody else wrote into the file',
    ],
  ];

  test.each(changes)('X4 %s: the next flush rejects for good', async (_, change, reason) => {
    const log = await openOn(new TestDisk());
    log.append(user('a'));
    await log.flush();
    change(log.path);
    log.append(user('b'));
    await expect(log.flush()).rejects.toThrow(`${log.path} cannot be written: ${reason}`);
    expect(append(log, 'c')).toThrow(SessionLogBrokenError);
    await expect(log.close()).rejects.toThrow(reason);
  });

  test.each(changes)('X4 %s: a clear does not touch it', async (_, change, reason) => {
    const log = await openOn(new TestDisk());
    log.append(user('a'));
    change(log.path);
    const content = (): string => {
      try {
        return readFileSync(log.path, 'utf8');
      } catch {
        return 'gone';
      }
    };
    const before = content();
    expect(() => {
      log.clear();
    }).toThrow(reason);
    expect(content()).toBe(before);
    await expect(log.close()).rejects.toThrow(reason);
  });
});

describe('a turn on a disk that fails', () => {
  const call = (id: string): ToolCall => ({ id, name: 'echo', args: id });
  const scripts = [
    [think('hm'), done('Let me look.', call('a'), call('b'))],
    [done('', call('c'))],
    say('It is noon.'),
  ];
  const loop = createAgentLoop(defaultAgentConfig({ max_parallel_tool_calls: 1 }));

  async function turnOn(disk: TestDisk) {
    const log = await openOn(disk);
    const tools = new FakeToolRegistry({ echo: (args) => args });
    const turn = async (): Promise<unknown> => {
      try {
        return await loop.runTurnOutcome(
          testContext({ llm: new ScriptedLlm(scripts), log, tools }),
          'go',
        );
      } catch (error) {
        return error;
      }
    };
    return { log, tools, turn };
  }

  const WRITES = 12;
  const SYNCS = 6;

  test('L2.7 all of it, to count what the others fail at', async () => {
    const disk = new TestDisk();
    const { log, turn } = await turnOn(disk);
    expect(await turn()).toBe('completed');
    expect([disk.writes, disk.syncs]).toEqual([WRITES, SYNCS]);
    await log.close();
  });

  const writes = Array.from({ length: WRITES }, (_, index) => index + 1);
  test.each(writes)('L2.7 write %i finds no space: the next turn goes on', async (at) => {
    const disk = new TestDisk();
    const { log, turn } = await turnOn(disk);
    const fault = diskError('ENOSPC');
    disk.onWrite = (time, length) => {
      if (time === at) throw fault;
      return length;
    };
    expect(await turn()).toBe(fault);
    const rows = log.events();
    expect(readFileSync(log.path, 'utf8')).toBe(fileText(rows));
    if (at === 1) expect(rows).toEqual([]);
    else if (at === WRITES) expect(rows.at(-1)?.type).toBe('assistant_message');
    else {
      const outcome = { error: { kind: 'generate', message: fault.message } };
      expect(rows.at(-1)).toEqual({ type: 'turn_end', id: 'turn-0', outcome });
    }
    if (at < WRITES) {
      expect(await turn()).toBe('completed');
      assertLogValid(log.events());
    }
    await log.close();
    assertLogValid(await reopenedRows(log.path));
  });

  test.each(writes)('L2.7 the disk is full from write %i on', async (at) => {
    const disk = new TestDisk();
    const { log, turn } = await turnOn(disk);
    disk.onWrite = (time, length) => {
      if (time < at) return length;
      if (time % 2 === at % 2) return Math.floor(length / 2);
      throw diskError('ENOSPC');
    };
    expect(await turn()).toMatchObject({ code: 'ENOSPC' });
    expect(readFileSync(log.path, 'utf8')).toBe(fileText(log.events()));
    await log.close();
    assertLogValid(await reopenedRows(log.path));
  });

  const syncs = Array.from({ length: SYNCS }, (_, index) => index + 1);
  test.each(syncs)('L2.7 X4 sync %i fails: nothing acts or is written after it', async (at) => {
    const disk = new TestDisk();
    const { log, tools, turn } = await turnOn(disk);
    disk.onSync = (time) => (time === at ? diskError('EIO') : null);
    expect(await turn()).toBeInstanceOf(SessionLogBrokenError);
    expect(tools.dispatched).toHaveLength([0, 0, 2, 2, 3, 3][at - 1] ?? NaN);
    expect(disk.syncs).toBe(at);
    const rows = log.events();
    expect(readFileSync(log.path, 'utf8')).toBe(fileText(rows));
    expect(await turn()).toBeInstanceOf(SessionLogBrokenError);
    expect(log.events()).toEqual(rows);
    await expect(log.close()).rejects.toThrow('its disk failed: EIO');
    assertLogValid(await reopenedRows(log.path));
  });
});
