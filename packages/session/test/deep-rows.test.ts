import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { messageToolCalls, type SessionEvent } from '@celestea/core';
import { InMemorySessionLog, JsonlSessionLog } from '@celestea/session';
import { describe, expect, test } from 'vitest';

import { assertLogValid, assertRequestValid } from './support/agent-loop.ts';
import { testFile } from './support/folder.ts';

/** As JSON text: what is parsed out of it is deeper than any stack. */
const LEVELS = 20_000;
const deep = (leaf: string): string => '['.repeat(LEVELS) + leaf + ']'.repeat(LEVELS);
const REF = `{"attachment_id":"${'ab'.repeat(32)}","media_type":"image/png","width":1,"height":1`;

/** A turn in which everything that can be nested is, with characters that want a copy. */
const lines = (leaf: string): string[] => [
  '{"type":"turn_start","id":"turn-0"}',
  `{"type":"user_message","text":"q","attachments":[${REF},"more":${deep(leaf)}}]}`,
  `{"type":"thinking_delta","text":"hm","meta":${deep(leaf)}}`,
  `{"type":"tool_call","id":"a","name":"n","args":{"path":${deep(leaf)}},"meta":${deep(leaf)}}`,
  `{"type":"tool_result","id":"a","value":${deep(leaf)},"error":null,"surface":{"kind":"own","of":${deep(leaf)}}}`,
  '{"type":"assistant_message","text":"a"}',
  '{"type":"turn_end","id":"turn-0","outcome":"completed"}',
];

const REQUEST = { model: 'm', system: null, tools: [], max_tokens: null, temperature: null };

const LEAVES = [
  ['a plain leaf', '"x"'],
  ['a lone surrogate', '"\\ud800"'],
] as const;

describe.each(LEAVES)('X32 rows that are nested deeper than any stack, %s', (_, leaf) => {
  const text = `${lines(leaf).join('\n')}\n`;

  test.each([
    [{}],
    [{ readOnly: true }],
    [{ onDamage: 'skip' as const }],
    [{ readOnly: true, onDamage: 'skip' as const }],
  ])('X32 a log is opened, read, checked and forked: %j', async (options) => {
    const path = testFile();
    writeFileSync(path, text);
    const log = await JsonlSessionLog.open(path, options);
    expect(log.report).toMatchObject({ rows: 7, tornBytes: 0, skipped: [], interruptedTurn: null });
    const rows = log.events();
    assertLogValid(rows);
    const messages = log.deriveMessages();
    assertRequestValid({ ...REQUEST, messages });
    // what adapters do with it, which overflows the stack where it is deep
    expect(() => JSON.stringify(messages.flatMap(messageToolCalls))).not.toThrow();
    const fork = await log.fork(join(dirname(path), 'fork.jsonl'), 'turn-0');
    expect(readFileSync(fork.path, 'utf8') === text).toBe(true);
    await Promise.all([log.close(), fork.close()]);
    expect(readFileSync(path, 'utf8') === text).toBe(true);
  });

  test('X32 they are appended, in memory and on disk, and give the same messages', async () => {
    const read = lines(leaf).map((line) => JSON.parse(line) as SessionEvent);
    const path = testFile();
    const log = await JsonlSessionLog.open(path);
    const memory = new InMemorySessionLog();
    for (const row of read) {
      log.append(row);
      memory.append(row);
    }
    const derived = JSON.stringify(log.deriveMessages());
    expect(JSON.stringify(memory.deriveMessages()) === derived).toBe(true);
    await log.close();
    const again = await JsonlSessionLog.open(path);
    expect(JSON.stringify(again.deriveMessages()) === derived).toBe(true);
    await again.close();
  });
});
