import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

import type { SessionEvent } from '@celestea/core';
import { JsonlSessionLog } from '@celestea/session';
import { expect, it } from 'vitest';

import { runCli } from '../src/index.ts';
import { freshFolder } from './support/folder.ts';
import { fakeIo, FakeOutput } from './support/io.ts';
import { hashOf, linesOf, OPEN_TURN, TURN } from './support/session.ts';

interface Checked {
  readonly code: number;
  readonly lines: string[];
}

/** Checks a file, and that nothing of it and nothing beside it changed. */
async function checkIn(cwd: string): Promise<Checked> {
  const path = join(cwd, 's.jsonl');
  const state = (): unknown => {
    const { size, mtimeMs, ino } = statSync(path);
    return { hash: hashOf(path), size, mtimeMs, ino, names: readdirSync(cwd) };
  };
  const before = state();
  const io = fakeIo({ cwd });
  const code = await runCli(['check', 's.jsonl'], io);
  expect(state()).toEqual(before);
  expect(io.stderr.text).toBe('');
  return { code, lines: io.stdout.text.trimEnd().split('\n') };
}

const check = (content: string): Promise<Checked> => checkIn(freshFolder({ 's.jsonl': content }));

it('in order: says what it looked at', async () => {
  expect(await check(linesOf(TURN))).toEqual({
    code: 0,
    lines: [
      's.jsonl',
      'rows:           7',
      'turns:          1',
      'damage:         none',
      'torn end:       none',
      'open turn:      none',
      'open elsewhere: no',
      'rules:          kept',
      'in order',
    ],
  });
});

it('an empty session is in order', async () => {
  expect((await check('')).code).toBe(0);
});

const broken: SessionEvent[] = TURN.filter(({ type }) => type !== 'tool_result');

it.each<[string, string, RegExp]>([
  ['a damaged line', `${linesOf(TURN)}nonsense\n`,
    /^damage: +line 8, at byte \d+, 8 B: not JSON: .*/],
  ['a row that is none', `${linesOf(TURN)}{"type":"tea"}\n`,
    /^damage: +line 8, at byte \d+, 14 B: unknown type "tea"$/],
  ['rows glued together', linesOf(TURN) + linesOf(TURN).replaceAll('\n', ''),
    /^damage: +line 8, at byte \d+, \d+ B: not JSON: .*/],
  ['a torn end', `${linesOf(TURN)}{"type":"turn_st`,
    /^torn end: +16 B; cut off when the session goes on$/],
  ['an open turn', linesOf([...TURN, ...OPEN_TURN]),
    /^open turn: +turn-1; closed when the session goes on$/],
  ['a broken rule', linesOf(broken), /^rules: +L4\.4, row 4: no result for a before the next row$/],
])('%s is told, with the code 1', async (_, content, finding) => {
  const { code, lines } = await check(content);
  expect(code).toBe(1);
  expect(lines.filter((line) => finding.test(line))).toHaveLength(1);
  expect(lines.at(-1)).toBe('not in order');
});

it('shows control characters, and faults in red on a terminal', async () => {
  const cwd = freshFolder({ 's.jsonl': '\x1b[2J\n' });
  const io = fakeIo({ cwd, stdout: new FakeOutput(true) });
  expect(await runCli(['check', 's.jsonl'], io)).toBe(1);
  expect(io.stdout.text).toContain('\x1b[31mline 1, at byte 0, 4 B: not JSON: ');
  expect(io.stdout.text).not.toContain('\x1b[2J');
});

it('a session that is open elsewhere may be in the middle of a turn', async () => {
  const cwd = freshFolder();
  const log = await JsonlSessionLog.open(join(cwd, 's.jsonl'));
  for (const row of [...TURN, ...OPEN_TURN]) log.append(row);
  const { code, lines } = await checkIn(cwd);
  expect(code).toBe(0);
  expect(lines).toContain('open turn:      turn-1, running');
  const holder = `open elsewhere: by process ${String(process.pid)} on `;
  expect(lines.filter((line) => line.startsWith(holder))).toHaveLength(1);
  expect(lines.at(-1)).toBe('in order');
  await log.close();
  expect((await checkIn(cwd)).code).toBe(1);
});

it('a lock that nobody can read is not told to be free', async () => {
  const cwd = freshFolder({ 's.jsonl': linesOf(TURN), 's.jsonl.lock': 'nonsense' });
  const { lines } = await checkIn(cwd);
  expect(lines).toContain('open elsewhere: by somebody: its lock file cannot be read');
});

it.each([
  ['no.jsonl', /^celestea: check: ".*" does not exist; if it was a question, put -- before it\n$/],
  ['.', /^celestea: check: ".*" is no file\n$/],
])('%s cannot be checked', async (file, message) => {
  const io = fakeIo({ cwd: freshFolder() });
  expect(await runCli(['check', file], io)).toBe(1);
  expect(io.stderr.text).toMatch(message);
  expect(io.stdout.text).toBe('');
});
