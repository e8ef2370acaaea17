import { readFileSync } from 'node:fs';

import { defaultAgentConfig, type ToolCall } from '@celestea/core';
import { JsonlSessionLog } from '@celestea/session';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import {
  assertLogValid,
  callTools,
  createAgentLoop,
  done,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
  think,
} from './support/agent-loop.ts';
import { testFile } from './support/folder.ts';
import { user } from './support/rows.ts';
import { TestDisk } from './support/test-disk.ts';

async function openOn(disk: TestDisk): Promise<JsonlSessionLog> {
  const log = await JsonlSessionLog.open(testFile(), { fileSystem: disk });
  disk.syncs = 0;
  disk.trace.length = 0;
  return log;
}

/** Lets everything run that waits for nothing but a promise. */
const promises = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

describe('group commit', () => {
  test('X4 opening makes a new file and its folder durable', async () => {
    const disk = new TestDisk();
    const log = await JsonlSessionLog.open(testFile(), { fileSystem: disk });
    expect(disk.trace).toEqual(['sync', 'synced', 'fsync', 'close']);
    await log.close();
  });

  test('X4 calls that come while the disk is busy share the next round', async () => {
    const disk = new TestDisk();
    const log = await openOn(disk);
    disk.holding = true;
    log.append(user('a'));
    const order: string[] = [];
    const first = log.flush().then(() => order.push('first'));
    log.append(user('b'));
    const waiting = Array.from({ length: 50 }, (_, index) => {
      log.append(user(String(index)));
      return log.flush().then(() => order.push('second'));
    });
    expect(disk.syncs).toBe(1);
    disk.release();
    await first;
    await promises();
    expect(order).toEqual(['first']);
    expect([disk.syncs, disk.waiting]).toEqual([2, 1]);
    disk.release();
    await Promise.all(waiting);
    expect(disk.syncs).toBe(2);
    expect(order).toHaveLength(51);
    disk.holding = false;
    await log.close();
    expect(disk.syncs).toBe(2);
  });

  test('X4 a flush covers the rows appended before it, not those after it', async () => {
    const disk = new TestDisk();
    const log = await openOn(disk);
    disk.holding = true;
    log.append(user('a'));
    const first = log.flush();
    log.append(user('b'));
    disk.release();
    await first;
    const second = log.flush(); // b came after the first sync had started
    expect(disk.syncs).toBe(2);
    disk.release();
    await second;
    expect(disk.syncs).toBe(2);
    await log.close();
  });

  test('X4 a file that was cleared and has its old size again is not durable', async () => {
    const disk = new TestDisk();
    const log = await openOn(disk);
    disk.holding = true;
    log.append(user('a'));
    const first = log.flush();
    log.clear();
    log.append(user('b'));
    disk.release();
    await first;
    const second = log.flush();
    expect(disk.syncs).toBe(2);
    disk.release();
    await second;
    await log.close();
  });

  test('X4 any order of appends, flushes and disk rounds: what settled is synced', async () => {
    const step = fc.constantFrom('append', 'flush', 'release', 'clear');
    const run = async (steps: readonly string[]): Promise<void> => {
      const disk = new TestDisk();
      const log = await openOn(disk);
      disk.holding = true;
      /** The trace up to its last sync that has come back: what it covers is durable. */
      const covered = (): number => {
        const rounds = disk.trace.filter((entry) => entry === 'synced').length;
        const starts = disk.trace.flatMap((entry, index) => (entry === 'sync' ? [index] : []));
        return starts[rounds - 1] ?? -1;
      };
      const flushes: Promise<void>[] = [];
      for (const [index, name] of steps.entries()) {
        if (name === 'append') log.append(user(String(index)));
        if (name === 'clear') log.clear();
        if (name === 'release') disk.release();
        if (name === 'flush') {
          const last = disk.trace.findLastIndex((entry) => /^(write|truncate)/.test(entry));
          flushes.push(
            log.flush().then(() => {
              expect(covered()).toBeGreaterThanOrEqual(last);
            }),
          );
        }
        await promises();
      }
      disk.holding = false;
      while (disk.waiting > 0) disk.release();
      await Promise.all(flushes);
      await log.close();
    };
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 25 }), run), { numRuns: 60 });
  });
});

describe('a turn', () => {
  const call = (id: string): ToolCall => ({ id, name: 'echo', args: id });
  const scripts = [
    [think('hm'), done('Let me look.', call('a'), call('b'))],
    callTools(call('c')),
    say('It is noon.'),
  ];

  test('X4 what it acts on is durable: before the model, the tools and its end', async () => {
    const disk = new TestDisk();
    const log = await openOn(disk);
    const llm = new ScriptedLlm(scripts);
    const generate = llm.generate.bind(llm);
    llm.generate = (request, options) => {
      disk.trace.push('generate');
      return generate(request, options);
    };
    const tools = new FakeToolRegistry({
      echo: (args) => {
        disk.trace.push(`tool ${String(args)}`);
        return args;
      },
    });
    const loop = createAgentLoop(defaultAgentConfig({ max_parallel_tool_calls: 1 }));
    const outcome = await loop.runTurnOutcome(testContext({ llm, log, tools }), 'go');
    disk.trace.push('settled');
    expect(outcome).toBe('completed');
    expect(disk.trace).toEqual([
      ...['write turn_start', 'write user_message', 'sync', 'synced', 'generate'],
      ...['write thinking_delta', 'write assistant_message', 'write tool_call', 'write tool_call'],
      ...['sync', 'synced', 'tool a', 'write tool_result', 'tool b', 'write tool_result'],
      ...['sync', 'synced', 'generate', 'write tool_call', 'sync', 'synced', 'tool c'],
      ...['write tool_result', 'sync', 'synced', 'generate', 'write assistant_message'],
      ...['write turn_end', 'sync', 'synced', 'settled'],
    ]);
    assertLogValid(log.events());
    expect(readFileSync(log.path, 'utf8').split('\n')).toHaveLength(log.events().length + 1);
    await log.close();
  });
});
