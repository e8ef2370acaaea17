import { readFileSync, writeFileSync } from 'node:fs';

import {
  ABANDONED_TOOL_CALL_TEXT,
  defaultAgentConfig,
  messageText,
  type SessionEvent,
  type ToolCall,
} from '@celestea/core';
import { JsonlSessionLog } from '@celestea/session';
import { describe, expect, test } from 'vitest';

import {
  assertLogValid,
  assertRequestValid,
  createAgentLoop,
  done,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
  think,
  thinkSigned,
  type Script,
} from './support/agent-loop.ts';
import { quickFile, testFile } from './support/folder.ts';
import { fileText, RICH_ROWS, user } from './support/rows.ts';

const call = (id: string): ToolCall => ({ id, name: 'echo', args: { id } });

const SCRIPTS: readonly Script[] = [
  [think('hm 🤔'), done('I look.', call('a'), call('b'), call('c'))],
  [thinkSigned('', { signature: 's' }), done('', call('d'))],
  [think('so'), ...say('It is noon ☀.')],
  [done('', call('e'), call('f'))],
  say('Good night.'),
];

const loop = createAgentLoop(defaultAgentConfig({ max_parallel_tool_calls: 2 }));
const echo = (): FakeToolRegistry => new FakeToolRegistry({ echo: (args) => args });

/** The rows that two real turns leave. */
async function turnRows(): Promise<SessionEvent[]> {
  const log = await JsonlSessionLog.open(testFile());
  const llm = new ScriptedLlm(SCRIPTS);
  for (const input of ['What time is it?', 'Again?']) {
    await loop.runTurn(testContext({ llm, log, tools: echo() }), input);
  }
  const rows = log.events();
  await log.close();
  assertLogValid(rows);
  return rows;
}

const interrupted = (id: string): SessionEvent => ({
  type: 'tool_result',
  id,
  value: null,
  error: 'the process ended before this call gave a result',
  abandoned: true,
});

describe('a turn whose process died', () => {
  test('C4.2 is ended on opening: calls without a result are answered in their order', async () => {
    const path = testFile();
    const rows = RICH_ROWS.slice(0, 10);
    writeFileSync(path, fileText(rows));
    const log = await JsonlSessionLog.open(path);
    const closing: SessionEvent[] = [
      ...['a', 'b', 'c'].map(interrupted),
      { type: 'turn_end', id: 'turn-0', outcome: 'interrupted' },
    ];
    expect(log.report).toMatchObject({ rows: 10, interruptedTurn: 'turn-0' });
    expect(log.events()).toEqual([...rows, ...closing]);
    expect(readFileSync(path, 'utf8')).toBe(fileText([...rows, ...closing]));
    const answers = log.deriveMessages().filter(({ role }) => role === 'tool');
    expect(answers.map(messageText)).toEqual(Array(3).fill(ABANDONED_TOOL_CALL_TEXT));
    await log.close();
  });

  test('C4.2 results that are there stay, those that are not come behind them', async () => {
    const path = testFile();
    writeFileSync(path, fileText(RICH_ROWS.slice(0, 11)));
    const log = await JsonlSessionLog.open(path);
    expect(log.events().slice(11)).toEqual([
      interrupted('b'),
      interrupted('c'),
      { type: 'turn_end', id: 'turn-0', outcome: 'interrupted' },
    ]);
    await log.close();
  });

  test('C4.2 two calls of one id are answered one by one', async () => {
    const path = testFile();
    const twin: SessionEvent = { type: 'tool_call', id: 'x', name: 'echo', args: 1 };
    const result: SessionEvent = { type: 'tool_result', id: 'x', value: 1, error: null };
    writeFileSync(path, fileText([{ type: 'turn_start', id: 'turn-0' }, twin, twin, result]));
    const log = await JsonlSessionLog.open(path);
    expect(log.events().slice(4).map(({ type }) => type)).toEqual(['tool_result', 'turn_end']);
    await log.close();
  });

  test('C4.2 a row of a nested call is audit only: it is not answered', async () => {
    const path = testFile();
    const nested: SessionEvent = {
      ...{ type: 'tool_call', id: 'n', name: 'inner', args: 1 },
      parent_id: 'a',
    };
    writeFileSync(path, fileText([{ type: 'turn_start', id: 'turn-0' }, user('x'), nested]));
    const log = await JsonlSessionLog.open(path);
    expect(log.events().slice(3)).toEqual([
      { type: 'turn_end', id: 'turn-0', outcome: 'interrupted' },
    ]);
    await log.close();
  });

  test('C4.2 C4.6 read-only it is told and not ended; its calls read as answered', async () => {
    const path = testFile();
    const text = fileText(RICH_ROWS.slice(0, 8));
    writeFileSync(path, text);
    const log = await JsonlSessionLog.open(path, { readOnly: true });
    expect(log.report.interruptedTurn).toBe('turn-0');
    expect(log.deriveMessages().filter(({ role }) => role === 'tool')).toHaveLength(3);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  test('C4.2 rows outside a turn, and calls of one that ended, are left alone', async () => {
    const path = testFile();
    const rows: SessionEvent[] = [
      { type: 'turn_start', id: 'turn-4' },
      { type: 'tool_call', id: 'a', name: 'echo', args: 1 },
      { type: 'turn_end', id: 'turn-4' },
      user('outside'),
      { type: 'tool_call', id: 'b', name: 'echo', args: 1 },
    ];
    writeFileSync(path, fileText(rows));
    const log = await JsonlSessionLog.open(path);
    expect(log.report.interruptedTurn).toBe(null);
    expect(readFileSync(path, 'utf8')).toBe(fileText(rows));
    expect(log.nextTurnId()).toBe('turn-5');
    await log.close();
  });
});

test('C4.2 C4.6 cut after any row, reopened: valid, and no tool is run again', async () => {
  const rows = await turnRows();
  const path = quickFile();
  for (let cut = 1; cut <= rows.length; cut += 1) {
    const kept = rows.slice(0, cut);
    writeFileSync(path, fileText(kept));
    const log = await JsonlSessionLog.open(path);
    const turns = kept.filter(({ type }) => type === 'turn_start').length;
    const openTurn = kept.filter(({ type }) => type === 'turn_end').length < turns;
    expect(log.report.interruptedTurn).toBe(openTurn ? `turn-${String(turns - 1)}` : null);
    const recovered = log.events();
    expect(recovered.slice(0, cut)).toEqual(kept);
    assertLogValid(recovered);
    await log.close();
    const text = readFileSync(path, 'utf8');
    expect(text).toBe(fileText(recovered));

    const again = await JsonlSessionLog.open(path);
    expect(again.report).toMatchObject({ interruptedTurn: null, tornBytes: 0 });
    expect(readFileSync(path, 'utf8')).toBe(text);
    const llm = new ScriptedLlm([say('Where were we?')]);
    const tools = echo();
    await loop.runTurn(testContext({ llm, log: again, tools }), 'go on');
    expect(tools.dispatched).toEqual([]);
    expect(llm.requests).toHaveLength(1);
    for (const request of llm.requests) assertRequestValid(request);
    const whole = again.events();
    expect(whole[recovered.length]).toEqual({ type: 'turn_start', id: `turn-${String(turns)}` });
    assertLogValid(whole);
    await again.close();
  }
});

test.each([
  [['turn-7', 'turn-3'], 'turn-8'],
  [['turn-09', 'other', 'turn--1'], 'turn-0'],
  [['turn-9007199254740992'], 'turn-0'],
])('C4.2 the turn counter goes on after %j', async (ids, next) => {
  const path = testFile();
  const turns = ids.flatMap((id): SessionEvent[] => [
    { type: 'turn_start', id },
    { type: 'turn_end', id },
  ]);
  writeFileSync(path, fileText(turns));
  const log = await JsonlSessionLog.open(path);
  expect(log.nextTurnId()).toBe(next);
  await log.close();
});
