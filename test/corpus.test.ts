import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { DefaultAgentLoop, defaultAgentConfig } from '@celestea/agent-loop';
import { assertLogValid, say, ScriptedLlm, testContext } from '@celestea/agent-loop/testing';
import { parseSessionEvent, type Message, type SessionEvent } from '@celestea/core';
import { JsonlSessionLog, type OpenReport } from '@celestea/session';
import { afterEach, describe, expect, test } from 'vitest';

import { assertRequestValid } from './support/request-checker.ts';

const corpus = join(import.meta.dirname, 'corpus');

/** What a log was read as by the version that wrote it. */
interface Expected {
  readonly report: OpenReport;
  readonly messages: Message[];
  /** The messages once it was opened for writing, which ends what had been running. */
  readonly recovered: Message[];
}

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A copy that may be written to. */
function copyOf(path: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'corpus-'));
  folders.push(folder);
  const copy = join(folder, 'log.jsonl');
  copyFileSync(path, copy);
  return copy;
}

function rowsIn(path: string): SessionEvent[] {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  return lines.map((line) => {
    const parsed = parseSessionEvent(line);
    if (!parsed.ok) throw new Error(`${path}: ${parsed.errors.join()}`);
    return parsed.event;
  });
}

const logs = readdirSync(corpus).flatMap((version) =>
  readdirSync(join(corpus, version))
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => ({ name: `${version} ${name}`, path: join(corpus, version, name) })),
);

test('there are logs of released versions', () => {
  expect(logs.length).toBeGreaterThan(5);
});

describe.each(logs)('C4.4 C4.5 X4 the log $name', ({ path }) => {
  const expected = JSON.parse(readFileSync(path.replace(/l$/, ''), 'utf8')) as Expected;

  test('is read as it was when it was written', async () => {
    const log = await JsonlSessionLog.open(path, { readOnly: true });
    expect(log.report).toEqual(expected.report);
    expect(JSON.parse(JSON.stringify(log.deriveMessages()))).toEqual(expected.messages);
    await log.close();
  });

  test('is opened for writing, continued by a turn, and valid in all', async () => {
    const copy = copyOf(path);
    const llm = new ScriptedLlm([say('Going on.')]);
    const log = await JsonlSessionLog.open(copy);
    const loop = new DefaultAgentLoop(defaultAgentConfig());
    expect(await loop.runTurnOutcome(testContext({ llm, log }), 'go on')).toBe('completed');
    await log.close();
    llm.requests.forEach(assertRequestValid);
    const { recovered } = expected;
    const before = llm.requests.map(({ messages }) => messages.slice(0, recovered.length));
    expect(before).toEqual([recovered]);
    assertLogValid(rowsIn(copy));
    const again = await JsonlSessionLog.open(copy, { readOnly: true });
    expect(again.deriveMessages().at(-1)?.content).toEqual([{ type: 'text', content: 'Going on.' }]);
    await again.close();
  });
});
