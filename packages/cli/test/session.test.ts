import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { assertLogValid, HangingLlm, say, ScriptedLlm, think } from '@celestea/agent-loop/testing';
import { messageTexts, type Llm, type ModelRequest } from '@celestea/core';
import { JsonlSessionLog } from '@celestea/session';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { runCli } from '../src/index.ts';
import { freshFolder, SESSION_FILE } from './support/folder.ts';
import { FakeClock, fakeIo, FakeOutput, type FakeIo } from './support/io.ts';
import {
  linesOf,
  onlySession,
  OPEN_TURN,
  rowsIn,
  sessionNames,
  TURN,
} from './support/session.ts';
import { FakeTerminal, KEY } from './support/terminal.ts';

const PROMPT = '› ';
const DEEP = 'd/'.repeat(40);

const run = (argv: readonly string[], io: FakeIo, llm: Llm): Promise<number> =>
  runCli(argv, io, { model: { name: 'scripted', llm } });

const hello = (): ScriptedLlm => new ScriptedLlm([say('Hi.')]);

const said = ({ messages }: ModelRequest): string[] =>
  messages.map((one) => messageTexts(one).join(''));

/** A folder with these sessions, each newer than the one before it. */
function withSessions(...contents: readonly string[]): string {
  const files = contents.map((content, at): [string, string] => [
    `.celestea/sessions/${String(9 - at)}.jsonl`, // the name says nothing about the time
    content,
  ]);
  const cwd = freshFolder(Object.fromEntries(files));
  files.forEach(([path], at) => {
    utimesSync(join(cwd, path), 1000 + at, 1000 + at);
  });
  return cwd;
}

describe('a new session', () => {
  it('is kept in the root folder, row by row, and never committed', async () => {
    const cwd = freshFolder();
    const io = fakeIo({ cwd });
    expect(await run(['hello'], io, hello())).toBe(0);
    expect(io.stderr.text).toBe('');
    const rows = rowsIn(onlySession(cwd));
    assertLogValid(rows);
    expect(rows).toEqual([
      { type: 'turn_start', id: 'turn-0' },
      { type: 'user_message', text: 'hello' },
      { type: 'assistant_message', text: 'Hi.' },
      { type: 'turn_end', id: 'turn-0', outcome: 'completed' },
    ]);
    expect(readFileSync(join(cwd, '.celestea/.gitignore'), 'utf8')).toBe('*\n');
  });

  it('leaves a folder of sessions that is there as it is', async () => {
    const cwd = freshFolder({ '.celestea/notes.md': '' });
    expect(await run(['hello'], fakeIo({ cwd }), hello())).toBe(0);
    expect(await run(['hello'], fakeIo({ cwd }), hello())).toBe(0);
    expect(sessionNames(cwd)).toHaveLength(2);
    expect(existsSync(join(cwd, '.celestea/.gitignore'))).toBe(false);
  });

  it('is named in the dim header on a terminal', async () => {
    const io = fakeIo({ cwd: freshFolder(), stdout: new FakeOutput(true) });
    expect(await run(['hello'], io, hello())).toBe(0);
    const header = `\x1b[2mscripted · ${io.cwd} · ${SESSION_FILE}\x1b[22m\n`;
    expect(io.stdout.text).toMatch(new RegExp(`^${header.replaceAll('[2', '\\[2')}`));
  });

  it('goes on in memory where it cannot be kept, and says so', async () => {
    const cwd = freshFolder({ '.celestea': 'a file\n' });
    const io = fakeIo({ cwd, stderr: new FakeOutput(true) });
    expect(await run(['hello'], io, hello())).toBe(0);
    // eslint-disable-next-line no-control-regex -- it is dim
    expect(io.stderr.text).toMatch(/^\x1b\[2mthis session is not kept: EEXIST: .*\x1b\[22m\n$/);
    expect(io.stdout.text).toMatch(new RegExp(`^scripted · ${cwd}\n\nHi\\.`));
    expect(readFileSync(join(cwd, '.celestea'), 'utf8')).toBe('a file\n');
  });

  it.skipIf(process.getuid?.() === 0)('does so in a read-only folder', async () => {
    const cwd = freshFolder();
    chmodSync(cwd, 0o555);
    const io = fakeIo({ cwd });
    expect(await run(['hello'], io, hello())).toBe(0);
    chmodSync(cwd, 0o755);
    expect(io.stderr.text).toMatch(/^this session is not kept: EACCES: .*\n$/);
  });

  it('of a prompt that was left without a word leaves no file', async () => {
    const terminal = new FakeTerminal();
    const io = fakeIo({ cwd: freshFolder(), terminal });
    const exit = run([], io, hello());
    await terminal.shows(PROMPT);
    terminal.type(KEY.ctrlD);
    expect(await exit).toBe(0);
    expect(sessionNames(io.cwd)).toEqual([]);
  });

  it('--no-session keeps nothing', async () => {
    const io = fakeIo({ cwd: freshFolder() });
    expect(await run(['--no-session', 'hello'], io, hello())).toBe(0);
    expect(io.stdout.text).toMatch(new RegExp(`^scripted · ${io.cwd}\n\nHi\\.`));
    expect(existsSync(join(io.cwd, '.celestea'))).toBe(false);
  });
});

describe('--session', () => {
  it('makes the file, from where it was typed, and continues it the next time', async () => {
    const cwd = freshFolder({ 'sub/x.md': '' });
    const io = (): FakeIo => fakeIo({ cwd, env: { INIT_CWD: `${cwd}/sub` } });
    const argv = ['--root', '..', '--session', 'tea.jsonl', 'hello'];
    const [first, second] = [io(), io()];
    expect(await run(argv, first, hello())).toBe(0);
    expect(first.stdout.text).toContain(`scripted · ${cwd} · tea.jsonl\n\n`);
    const llm = hello();
    expect(await run(argv, second, llm)).toBe(0);
    expect(second.stdout.text).toContain(` · tea.jsonl\nresumed with 2 messages\n\n`);
    expect(llm.requests.map(said)).toEqual([['hello', 'Hi.', 'hello']]);
    const rows = rowsIn(join(cwd, 'sub/tea.jsonl'));
    assertLogValid(rows);
    expect(rows.filter(({ type }) => type === 'turn_start')).toHaveLength(2);
    expect(existsSync(join(cwd, '.celestea'))).toBe(false);
  });

  it('is shown by the shorter of its names, which leads there also from below a link', async () => {
    const [cwd, far] = [freshFolder({ 'a/b/x.md': '' }), freshFolder()];
    symlinkSync(join(cwd, 'a/b'), join(far, 'link'));
    const io = fakeIo({ cwd: join(far, 'link') });
    expect(await run(['--session', join(cwd, 'a/s.jsonl'), 'hello'], io, hello())).toBe(0);
    expect(io.stdout.text).toContain(' · ../s.jsonl\n');
    const there = join(cwd, 's.jsonl');
    const deep = fakeIo({ cwd: join(freshFolder({ [`${DEEP}x`]: '' }), DEEP) });
    expect(await run(['--session', there, 'hello'], deep, hello())).toBe(0);
    expect(deep.stdout.text).toContain(` · ${there}\n`);
  });

  it('cuts off a torn end, closes an interrupted turn, and says so', async () => {
    const torn = '{"type":"tool_resu';
    const cwd = freshFolder({ 's.jsonl': linesOf([...TURN, ...OPEN_TURN]) + torn });
    const io = fakeIo({ cwd, stdout: new FakeOutput(true) });
    expect(await run(['--session=s.jsonl', 'hello'], io, hello())).toBe(0);
    expect(io.stdout.text).toContain(
      '\n\x1b[2mresumed with 7 messages · cut off a torn end of 18 B · ' +
        'closed turn-1, which was interrupted\x1b[22m\n\nHi.',
    );
    const rows = rowsIn(join(cwd, 's.jsonl'));
    assertLogValid(rows);
    expect(rows).toContainEqual({ type: 'turn_end', id: 'turn-1', outcome: 'interrupted' });
  });

  it('with --json says so on stderr, and the frames have the id of their turn', async () => {
    const cwd = freshFolder({ 's.jsonl': linesOf([...TURN, ...OPEN_TURN]) });
    const io = fakeIo({ cwd });
    const reads = vi.spyOn(JsonlSessionLog.prototype, 'events');
    onTestFinished(() => {
      reads.mockRestore();
    });
    expect(await run(['--json', '--session=s.jsonl', 'hello'], io, hello())).toBe(0);
    expect(reads).not.toHaveBeenCalled(); // a frame costs nothing, however long the session
    expect(io.stderr.text).toBe(
      's.jsonl: resumed with 7 messages · closed turn-1, which was interrupted\n',
    );
    const frames = io.stdout.text.trimEnd().split('\n').map((line) => JSON.parse(line) as object);
    expect(frames.length).toBeGreaterThan(1);
    for (const frame of frames) expect(frame).toMatchObject({ turn: 'turn-2' });
  });

  it('of a damaged file is refused in one line that says where to look', async () => {
    const content = `${linesOf(TURN)}{"type":\x1b[2J}\n`;
    const cwd = freshFolder({ "my tea's.jsonl": content });
    const io = fakeIo({ cwd });
    expect(await run(["--session=my tea's.jsonl", 'hello'], io, hello())).toBe(1);
    expect(io.stderr.text).toMatch(/^celestea: .*my tea's\.jsonl is damaged in line 8, [^\n]*\n$/);
    expect(io.stderr.text.endsWith("; for more: celestea check 'my tea'\\''s.jsonl'\n")).toBe(true);
    expect(io.stderr.text).not.toContain('\x1b');
    expect(io.stdout.text).toBe('');
    expect(readFileSync(join(cwd, "my tea's.jsonl"), 'utf8')).toBe(content);
  });

  it('that is open elsewhere is refused in one line', async () => {
    const cwd = freshFolder();
    const log = await JsonlSessionLog.open(join(cwd, 's.jsonl'));
    const io = fakeIo({ cwd });
    expect(await run(['--session=s.jsonl', 'hello'], io, hello())).toBe(1);
    expect(io.stderr.text).toMatch(
      new RegExp(`^celestea: .*s\\.jsonl is in use by process ${String(process.pid)} [^\n]*\n$`),
    );
    await log.close();
    expect(await run(['--session=s.jsonl', 'hello'], io, hello())).toBe(0);
  });

  it.each([
    ['a file that is not there, with --resume', ['--session=no.jsonl', '--resume'],
      /--session: expected a file to resume, but ".*\/no\.jsonl" does not exist\n/],
    ['a folder', ['--session', 'sub'], /--session: expected a file, but ".*\/sub" is a folder\n/],
    ['a device', ['--session', '/dev/null'],
      /--session: expected a file, but "\/dev\/null" is something else\n/],
    ['a folder that is not there', ['--session', 'no/s.jsonl'],
      /--session: ".*\/no\/s\.jsonl" cannot be opened: ENOENT/],
    ['a NUL', ['--session', 'a\0b'], /--session: .*\\x00/],
  ])('of %s is misuse', async (_, options, message) => {
    const io = fakeIo({ cwd: freshFolder({ 'sub/x.md': '' }) });
    expect(await run([...options, 'hello'], io, hello())).toBe(2);
    expect(io.stderr.text).toMatch(message);
    expect(io.stderr.text).toMatch(/^celestea: [^\n]*\nTry celestea --help\.\n$/);
    expect(io.stdout.text).toBe('');
  });
});

describe('--resume', () => {
  it('goes on with a session whose name has capital letters', async () => {
    const path = '.celestea/sessions/2026-01-31T12-00-00Z-1a2b3c4d.jsonl';
    const io = fakeIo({ cwd: freshFolder({ [path]: linesOf(TURN) }) });
    expect(await run(['--resume', 'hello'], io, hello())).toBe(0);
    expect(io.stdout.text).toContain(` · ${path}\nresumed with `);
    expect(sessionNames(io.cwd)).toEqual(['2026-01-31T12-00-00Z-1a2b3c4d.jsonl']);
  });

  it('continues the session that was written last and holds something', async () => {
    const older = TURN.map((row) =>
      row.type === 'user_message' ? { ...row, text: 'Is there coffee?' } : row,
    );
    const cwd = withSessions(linesOf(older), linesOf(TURN), '');
    writeFileSync(join(cwd, '.celestea/sessions/notes.txt'), 'newer, and no session\n');
    mkdirSync(join(cwd, '.celestea/sessions/0.jsonl'));
    const llm = hello();
    const io = fakeIo({ cwd });
    expect(await run(['--resume', 'hello'], io, llm)).toBe(0);
    expect(io.stdout.text).toContain('.celestea/sessions/8.jsonl\nresumed with 4 messages\n\n');
    expect(llm.requests.map(said)[0]?.[0]).toBe('Is there tea?');
    const rows = rowsIn(join(cwd, '.celestea/sessions/8.jsonl'));
    assertLogValid(rows);
    expect(rows.at(-1)).toEqual({ type: 'turn_end', id: 'turn-1', outcome: 'completed' });
  });

  it.each([
    ['no folder of sessions', {}],
    ['an empty one only', { '.celestea/sessions/a.jsonl': '' }],
  ])('with %s is misuse', async (_, files: Record<string, string>) => {
    const io = fakeIo({ cwd: freshFolder(files) });
    expect(await run(['--resume', 'hello'], io, hello())).toBe(2);
    expect(io.stderr.text).toContain(
      `--resume: expected a session in "${io.cwd}/.celestea/sessions", but there is none\n`,
    );
  });

  it('where the folder cannot be looked at is misuse as well', async () => {
    const io = fakeIo({ cwd: freshFolder({ '.celestea': '' }) });
    expect(await run(['--resume', 'hello'], io, hello())).toBe(2);
    expect(io.stderr.text).toMatch(/^celestea: --resume: ENOTDIR: .*\nTry celestea --help\.\n$/);
  });

  it('looks at the sessions of --root', async () => {
    const cwd = withSessions(linesOf(TURN));
    const io = fakeIo({ cwd: freshFolder(), env: {} });
    expect(await run(['--root', cwd, '--resume', 'hello'], io, hello())).toBe(0);
    expect(io.stdout.text).toContain('resumed with 4 messages');
  });

  it('opens a prompt on the conversation', async () => {
    const terminal = new FakeTerminal();
    const io = fakeIo({ cwd: withSessions(linesOf([...TURN, ...OPEN_TURN])), terminal });
    const llm = hello();
    const exit = run(['--resume'], io, llm);
    await terminal.shows('closed turn-1, which was interrupted');
    await terminal.shows(PROMPT);
    terminal.type('hello', KEY.enter);
    await terminal.shows('completed');
    await terminal.shows(PROMPT);
    terminal.type(KEY.ctrlD);
    expect(await exit).toBe(0);
    expect(llm.requests.map(said)[0]?.[0]).toBe('Is there tea?');
    assertLogValid(rowsIn(onlySession(io.cwd)));
  });
});

describe('the file is closed', () => {
  it('after a turn that was cancelled', async () => {
    const cancel = new AbortController();
    const stdout = new FakeOutput(false, (text) => {
      if (text.includes('Half')) cancel.abort();
    });
    const io = fakeIo({ cwd: freshFolder(), signal: cancel.signal, stdout });
    const llm = new HangingLlm([{ kind: 'text', text: 'Half of' }]);
    expect(await run(['hello'], io, llm)).toBe(130);
    const rows = rowsIn(onlySession(io.cwd));
    assertLogValid(rows);
    expect(rows.at(-1)).toEqual({ type: 'turn_end', id: 'turn-0', outcome: 'cancelled' });
  });

  it('after a turn whose log broke', async () => {
    const cwd = freshFolder({ 's.jsonl': linesOf(TURN) });
    const io = fakeIo({ cwd });
    const llm = new ScriptedLlm([
      [() => { writeFileSync(join(cwd, 's.jsonl'), 'x'); }, ...say('Hi.')],
    ]);
    await expect(run(['--session=s.jsonl', 'hello'], io, llm)).rejects.toThrow('cannot be written');
    expect(existsSync(join(cwd, 's.jsonl.lock'))).toBe(false);
  });

  it('when a prompt is left while its turn runs', async () => {
    const terminal = new FakeTerminal();
    const clock = new FakeClock();
    const io = fakeIo({ cwd: freshFolder(), terminal, now: clock.now });
    const exit = run([], io, new HangingLlm([think('Hm.')]));
    await terminal.shows(PROMPT);
    terminal.type('first', KEY.enter);
    await terminal.shows('Hm.');
    terminal.type(KEY.ctrlC);
    clock.pass(500);
    terminal.type(KEY.ctrlC);
    expect(await exit).toBe(130);
    const path = onlySession(io.cwd); // without a lock beside it
    await terminal.shows('cancelled');
    expect(io.stderr.text).toBe('');
    const log = await JsonlSessionLog.open(path);
    assertLogValid(log.events());
    await log.close();
  });
});
