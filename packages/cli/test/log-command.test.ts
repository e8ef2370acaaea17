import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { ImageRef, SessionEvent } from '@celestea/core';
import { JsonlSessionLog } from '@celestea/session';
import { describe, expect, it } from 'vitest';

import { runCli } from '../src/index.ts';
import { freshFolder } from './support/folder.ts';
import { fakeIo, FakeOutput, type FakeIo } from './support/io.ts';
import { hashOf, linesOf, OPEN_TURN, TURN } from './support/session.ts';

async function log(
  content: string,
  options: readonly string[] = [],
  given: Partial<FakeIo> = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const cwd = freshFolder({ 's.jsonl': content });
  const before = hashOf(join(cwd, 's.jsonl'));
  const io = fakeIo({ cwd, ...given });
  const code = await runCli(['log', 's.jsonl', ...options], io);
  expect(hashOf(join(cwd, 's.jsonl'))).toBe(before);
  return { code, stdout: io.stdout.text, stderr: io.stderr.text };
}

const IMAGE: ImageRef = {
  attachment_id: '0'.repeat(64),
  media_type: 'image/png',
  width: 1,
  height: 1,
};

const OTHER_ENDS: readonly SessionEvent[] = [
  { type: 'turn_start', id: 'turn-1' },
  { type: 'user_message', text: 'Look\nagain.', attachments: [IMAGE] },
  { type: 'assistant_message', text: 'Both.', calls_follow: true },
  { type: 'tool_call', id: 'x', name: 'outer', args: {} },
  { type: 'tool_call', id: 'y', name: 'inner', args: { n: 1 }, parent_id: 'x' },
  { type: 'tool_result', id: 'y', value: [1, 2], error: null, parent_id: 'x' },
  { type: 'tool_call', id: 'x', name: 'outer', args: 'twice' },
  { type: 'tool_result', id: 'x', value: null, error: 'no luck' },
  { type: 'tool_result', id: 'x', value: null, error: 'it had started', abandoned: true },
  { type: 'tool_result', id: 'z', value: 'v', error: null },
  { type: 'turn_end', id: 'turn-1', outcome: { error: { kind: 'stream', message: 'gone' } } },
  { type: 'turn_start', id: 'turn-2' },
  { type: 'turn_end', id: 'turn-2', outcome: 'cancelled' },
  { type: 'turn_start', id: 'turn-3' },
  { type: 'turn_end', id: 'turn-3', outcome: 'step_limit' },
  { type: 'turn_start', id: 'turn-4' },
  { type: 'turn_end', id: 'turn-4', outcome: 'interrupted' },
];

describe('for people', () => {
  it('shows a turn from its start to its outcome', async () => {
    expect(await log(linesOf(TURN))).toEqual({
      code: 0,
      stdout: [
        'turn-0',
        '› Is there tea?',
        '',
        'I look.',
        '→ #1 list_dir {"path":"."}',
        '✓ #1 list_dir tea.md · 8 B',
        '',
        'There is.',
        '',
        'turn-0 completed',
        '',
      ].join('\n'),
      stderr: '',
    });
  });

  it('shows what can go wrong, and calls that a call made', async () => {
    const { stdout } = await log(linesOf(OTHER_ENDS));
    expect(stdout.split('\n')).toEqual([
      'turn-1',
      '› Look',
      '  again.',
      '  (1 image)',
      '',
      'Both.',
      '',
      '→ #1 outer {}',
      '  → #2 inner {"n":1}',
      '  ✓ #2 inner [1,2] · 5 B',
      '→ #3 outer "twice"',
      '✗ #1 outer failed: no luck',
      '! #3 outer "twice" abandoned: it had started; its outcome is not known',
      '✓ #? v · 3 B',
      '',
      'turn-1 error (stream: gone)',
      '',
      'turn-2',
      '',
      'turn-2 cancelled',
      '',
      'turn-3',
      '',
      'turn-3 stopped at the step limit',
      '',
      'turn-4',
      '',
      'turn-4 interrupted',
      '',
    ]);
  });

  it('says which turn has not ended', async () => {
    const { stdout } = await log(linesOf([...TURN, ...OPEN_TURN]));
    expect(stdout).toMatch(/→ #1 list_dir \{"path":"\."\}\n\nturn-1 has not ended\n$/);
  });

  it('dims the reasoning on a terminal', async () => {
    const { stdout } = await log(linesOf(TURN), [], { stdout: new FakeOutput(true) });
    expect(stdout).toContain('\x1b[2mI look.\x1b[22m\n');
    expect(stdout).toContain('\x1b[32mcompleted\x1b[39m');
  });

  it('bounds arguments, values and errors, and shows control characters', async () => {
    const long = `\x1b[2J\u202e\n${'x'.repeat(5000)}`;
    const { stdout } = await log(
      linesOf([
        { type: 'turn_start', id: long },
        { type: 'user_message', text: '\x1b[2J\u202eme' },
        { type: 'thinking_delta', text: '\x07hm' },
        { type: 'tool_call', id: long, name: long, args: { long } },
        { type: 'tool_call', id: 'b', name: 'b', args: {} },
        { type: 'tool_result', id: long, value: long, error: null },
        { type: 'tool_result', id: 'b', value: null, error: long },
        { type: 'assistant_message', text: '\x1b]0;owned\x07' },
        { type: 'turn_end', id: long, outcome: { error: { kind: 'stream', message: long } } },
      ]),
    );
    // eslint-disable-next-line no-control-regex -- they are what it is about
    expect(stdout).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThan(600);
    expect(stdout).toMatch(/✓ #1 \S+ \\x1b\[2J\\u202e\\n.* · 5\.0 kB\n/);
  });

  it('of an empty file says nothing', async () => {
    expect(await log('')).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});

describe('--json', () => {
  it('prints the rows, one a line', async () => {
    const rows = linesOf([...TURN, ...OPEN_TURN]);
    expect(await log(rows, ['--json'])).toEqual({ code: 0, stdout: rows, stderr: '' });
  });

  it('escapes what JSON leaves raw, and it reads back as the same', async () => {
    const rows: SessionEvent[] = [{ type: 'user_message', text: '\x9b2J\u202e\x7f' }];
    const { stdout } = await log(linesOf(rows), ['--json']);
    expect(stdout.trimEnd()).not.toMatch(/[\x7f-\x9f\u202e]/);
    expect(JSON.parse(stdout)).toEqual(rows[0]);
  });
});

describe('around damage', () => {
  const damaged = `${linesOf(TURN)}{"type":\x1bnonsense}\n${linesOf(OPEN_TURN)}{"type":"tool_re`;

  it.each([[[]], [['--json']]])('with %j it says what it skipped', async (options) => {
    const { code, stdout, stderr } = await log(damaged, options);
    const clean = await log(linesOf([...TURN, ...OPEN_TURN]), options);
    expect({ code, stdout }).toEqual({ code: 0, stdout: clean.stdout });
    const [line, end, ...more] = stderr.split('\n');
    expect(line).toMatch(/^skipped line 8, at byte \d+, 18 B: not JSON: /);
    expect([end, ...more]).toEqual(['skipped a torn end, 16 B', '']);
    expect(stderr).not.toContain('\x1b');
  });

  it('bounds what it says', async () => {
    const { stderr } = await log('nonsense\n'.repeat(50));
    const lines = stderr.trimEnd().split('\n');
    expect(lines).toHaveLength(21);
    expect(lines.at(-1)).toBe('skipped 30 damaged lines more');
  });

  it('reads a session that is open elsewhere', async () => {
    const cwd = freshFolder({ 's.jsonl': linesOf(TURN) });
    const open = await JsonlSessionLog.open(join(cwd, 's.jsonl'));
    const io = fakeIo({ cwd });
    expect(await runCli(['log', 's.jsonl'], io)).toBe(0);
    expect(io.stdout.text).toContain('turn-0 completed');
    await open.close();
  });

  it.each([
    ['a file that is not there', 'no.jsonl',
      /^celestea: log: ".*\/no\.jsonl" does not exist; if it was a question, put -- before it\n$/],
    ['a folder', 'sub', /^celestea: log: ".*\/sub" is no file\n$/],
    ['a device', '/dev/zero', /^celestea: log: "\/dev\/zero" is no file\n$/],
    ['a NUL', 'a\0', /^celestea: log: ".*a\\x00" cannot be read: .*\n$/],
  ])('%s is unreadable', async (_, file, message) => {
    const cwd = freshFolder();
    mkdirSync(join(cwd, 'sub'));
    const io = fakeIo({ cwd });
    expect(await runCli(['log', file], io)).toBe(1);
    expect(io.stderr.text).toMatch(message);
    expect(io.stdout.text).toBe('');
  });

  it('finds the file from where the command was typed', async () => {
    const cwd = freshFolder({ 'sub/s.jsonl': linesOf(TURN) });
    const io = fakeIo({ cwd, env: { INIT_CWD: join(cwd, 'sub') } });
    expect(await runCli(['log', '--json', 's.jsonl'], io)).toBe(0);
    expect(io.stdout.text).toBe(readFileSync(join(cwd, 'sub/s.jsonl'), 'utf8'));
  });
});
