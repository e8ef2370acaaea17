import { readFileSync } from 'node:fs';

import {
  callTools,
  failingLlm,
  HangingLlm,
  say,
  ScriptedLlm,
  think,
} from '@celestea/agent-loop/testing';
import { usageAdd, zeroUsage, type Llm } from '@celestea/core';
import { describe, expect, it } from 'vitest';

import { CLI_VERSION } from '../src/cli.ts';
import { EXIT, exitCodeOf, runCli } from '../src/index.ts';
import { freshFolder, SESSION_FILE } from './support/folder.ts';
import { FakeClock, fakeIo, FakeOutput, type FakeIo } from './support/io.ts';

const run = (argv: readonly string[], io: FakeIo, llm: Llm): Promise<number> =>
  runCli(argv, io, { model: { name: 'scripted', llm } });

const usage = usageAdd(zeroUsage(), { ...zeroUsage(), prompt_tokens: 7, completion_tokens: 2 });

describe('the five outcomes', () => {
  const looping = Array.from({ length: 16 }, (_, step) =>
    callTools({ id: `c${String(step)}`, name: 'list_dir', args: {} }),
  );
  it.each<[string, Llm, number, string]>([
    ['completed', new ScriptedLlm([say('Hello.')]), 0, 'completed · 1 step'],
    ['error', failingLlm(new Error('no such model')), 1,
      'error (generate: no such model) · 1 step'],
    ['step_limit', new ScriptedLlm(looping), 1, 'stopped at the step limit · 16 steps'],
    ['interrupted', new ScriptedLlm([[think('Hm.')]]), 1,
      'interrupted: the model broke off · 1 step'],
  ])('%s', async (_, llm, code, line) => {
    const io = fakeIo({ cwd: freshFolder() });
    expect(await run(['hello'], io, llm)).toBe(code);
    expect(io.stdout.text).toContain(`\n${line} · `);
    expect(io.stderr.text).toBe('');
  });

  it('cancelled: while the text arrives', async () => {
    const cancel = new AbortController();
    const stdout = new FakeOutput(false, (text) => {
      if (text.includes('Half')) cancel.abort();
    });
    const io = fakeIo({ cwd: freshFolder(), signal: cancel.signal, stdout });
    const llm = new HangingLlm([{ kind: 'text', text: 'Half of' }]);
    expect(await run(['hello'], io, llm)).toBe(130);
    expect(io.stdout.text).toContain('\nHalf of\n\ncancelled · 1 step · no tokens reported · ');
    expect(llm.closed).toBe(1);
  });

  it.each([
    ['lines', [], '! #1 list_dir {"path":"."} abandoned after 0 ms: ' +
      'it had started; its outcome is not known'],
    ['frames', ['--json'], '"abandoned":true'],
  ])('cancelled: while a tool runs, the call is named in %s', async (_, options, shown) => {
    const cancel = new AbortController();
    let reads = 0;
    const now = (): number => {
      reads += 1;
      if (reads === 2) cancel.abort(); // the clock is read as the turn starts, then as a call does
      return 0;
    };
    const io = fakeIo({ cwd: freshFolder(), signal: cancel.signal, now });
    const call = { id: 'a', name: 'list_dir', args: { path: '.' } };
    expect(await run([...options, 'hello'], io, new ScriptedLlm([callTools(call)]))).toBe(130);
    expect(io.stdout.text).toContain(shown);
    expect(io.stdout.text + io.stderr.text).toContain('list_dir (a) was still running');
  });

  it('cancelled: before it began', async () => {
    const io = fakeIo({ cwd: freshFolder(), signal: AbortSignal.abort() });
    expect(await run(['hello'], io, new HangingLlm())).toBe(130);
    expect(io.stdout.text).toContain('cancelled · 0 steps');
  });

  it('have their exit codes', () => {
    expect(exitCodeOf('completed')).toBe(EXIT.completed);
    expect(exitCodeOf('cancelled')).toBe(EXIT.cancelled);
    expect(exitCodeOf('step_limit')).toBe(EXIT.failed);
    expect(exitCodeOf('interrupted')).toBe(EXIT.failed);
    expect(exitCodeOf({ error: { kind: 'stream', message: '' } })).toBe(EXIT.failed);
  });
});

describe('a turn', () => {
  it('uses the tools on the files of the folder and shows every step', async () => {
    const cwd = freshFolder({ 'a.md': 'alpha\n', 'sub/b.md': 'beta\n' });
    const clock = new FakeClock();
    const io = fakeIo({ cwd, now: clock.now });
    const llm = new ScriptedLlm([
      [
        think('Both.'),
        { kind: 'usage', usage },
        ...callTools(
          { id: 'a', name: 'read_file', args: { path: 'a.md' } },
          { id: 'b', name: 'read_file', args: { path: 'nope.md' } },
        ),
      ],
      [() => { clock.pass(1500); }, { kind: 'usage', usage }, ...say('Done.')],
    ]);
    expect(await run(['read', 'a.md'], io, llm)).toBe(0);
    expect(io.stdout.text).toMatch(
      new RegExp(
        [
          `^scripted · ${cwd} · ${SESSION_FILE}`,
          '',
          'Both\\.',
          '→ #1 read_file \\{"path":"a\\.md"\\}',
          '→ #2 read_file \\{"path":"nope\\.md"\\}',
          '✓ #1 read_file .*a\\.md.* · \\d+ B · 0 ms',
          '✗ #2 read_file failed after 0 ms: .*nope\\.md.*',
          '',
          'Done\\.',
          '',
          'completed · 2 steps · tokens 14 prompt, 4 completion · 1\\.5 s\n$',
        ].join('\n'),
      ),
    );
    const [request] = llm.requests;
    expect(request?.model).toBe('scripted');
    expect(request?.messages.at(-1)?.content).toEqual([{ type: 'text', content: 'read a.md' }]);
    expect(request?.tools.map(({ name }) => name)).toEqual([
      'list_dir', 'read_file', 'run_command', 'search_text', 'write_file',
    ]);
  });

  it.each([
    ['the current folder', [], {}, '', ''],
    ['where it was typed, under a script runner', [], { INIT_CWD: 'sub' }, '/sub', ''],
    ['an empty INIT_CWD is none', [], { INIT_CWD: '' }, '', ''],
    ['--root', ['--root', 'sub'], {}, '/sub', 'sub/'],
    ['--root, from where it was typed', ['--root', 'deep'], { INIT_CWD: 'sub' }, '/sub/deep',
      'deep/'],
    ['an absolute --root', ['--root', '/ABS/sub'], { INIT_CWD: 'sub/deep' }, '/sub', '../'],
  ])('works on %s', async (_, options, env, folder, way) => {
    const cwd = freshFolder({ 'sub/deep/x.md': '' });
    const typedIn = 'INIT_CWD' in env && env.INIT_CWD !== '' ? `${cwd}/${env.INIT_CWD}` : '';
    const io = fakeIo({ cwd, env: 'INIT_CWD' in env ? { INIT_CWD: typedIn } : {} });
    const argv = [...options.map((word) => word.replace('/ABS', cwd)), 'hello'];
    expect(await run(argv, io, new ScriptedLlm([say('Hi.')]))).toBe(0);
    const [header] = io.stdout.text.split('\n');
    expect(header).toMatch(new RegExp(`^scripted · ${cwd}${folder} · ${way}${SESSION_FILE}$`));
  });

  it('is coloured on a terminal, and not with NO_COLOR', async () => {
    const cwd = freshFolder();
    const outputs = await Promise.all(
      [{}, { NO_COLOR: '1' }].map(async (env) => {
        const io = fakeIo({ cwd, env, stdout: new FakeOutput(true) });
        await run(['hello'], io, new ScriptedLlm([say('Hi.')]));
        return io.stdout.text;
      }),
    );
    expect(outputs.map((text) => text.includes('\x1b'))).toEqual([true, false]);
  });

  it('is answered by the offline model when none is given', async () => {
    const io = fakeIo({ cwd: freshFolder({ 'README.md': 'Ask for tea.\n' }) });
    expect(await runCli(['what does README.md say?'], io)).toBe(0);
    expect(io.stdout.text).toMatch(/^offline model · /);
    expect(io.stdout.text).toContain('Ask for tea.');
  });
});

describe('--json', () => {
  const frames = (text: string): Record<string, unknown>[] =>
    text.trimEnd().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);

  it('prints the frames and nothing else', async () => {
    const io = fakeIo({ cwd: freshFolder({ 'a.md': '' }), stdout: new FakeOutput(true) });
    const llm = new ScriptedLlm([
      callTools({ id: 'a', name: 'list_dir', args: {} }),
      [think('Hm.'), ...say('One file.')],
    ]);
    expect(await run(['--json', 'hello'], io, llm)).toBe(0);
    const read = frames(io.stdout.text);
    expect(read.map(({ event }) => event)).toEqual([
      'done', 'tool', 'tool_result', 'thinking', 'text', 'done', 'turn_end',
    ]);
    read.forEach((frame, seq) => {
      expect(Object.keys(frame)).toEqual(['v', 'session', 'turn', 'seq', 'event', 'payload']);
      expect(frame).toMatchObject({ v: 1, session: 'cli', turn: 'turn-0', seq });
    });
    expect(read.at(-1)?.['payload']).toEqual({ outcome: 'completed', error: null });
    expect(io.stderr.text).toBe('');
  });

  it('ends with the outcome of a turn that was cancelled', async () => {
    const io = fakeIo({ cwd: freshFolder(), signal: AbortSignal.abort() });
    expect(await run(['--json', 'hello'], io, new HangingLlm())).toBe(130);
    expect(frames(io.stdout.text).map(({ payload }) => payload)).toEqual([
      { outcome: 'cancelled', error: null },
    ]);
  });
});

describe('without a turn', () => {
  it.each([[[]], [['--help']], [['-h']]])('%j prints help with examples', async (argv) => {
    const io = fakeIo();
    expect(await runCli(argv, io)).toBe(0);
    expect(io.stdout.text).toContain('\n  celestea "');
    expect(io.stdout.text).toContain('\n  npx -y pnpm@10 start "');
    expect(io.stdout.text).toContain('npx -y pnpm@10 --silent start --json "');
    expect(io.stdout.text.split('\n').filter((line) => line.length > 100)).toEqual([]);
    expect(io.stderr.text).toBe('');
  });

  it('and with other options, help comes with the code of misuse', async () => {
    const io = fakeIo();
    expect(await runCli(['--root', '.'], io)).toBe(2);
    expect(io.stdout.text).toContain('Usage\n');
    expect(io.stderr.text).toContain('question: expected some words, got nothing');
  });

  it('says which folder is not there when none was given', async () => {
    const io = fakeIo({ cwd: '/nowhere/at/all' });
    expect(await runCli(['q'], io)).toBe(2);
    expect(io.stderr.text).toContain(
      'celestea: the current folder: the folder "/nowhere/at/all" does not exist\n',
    );
  });

  it('--version prints that of the package', async () => {
    const io = fakeIo();
    const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
    expect(JSON.parse(manifest)).toMatchObject({ version: CLI_VERSION });
    expect(await runCli(['--version'], io)).toBe(0);
    expect(io.stdout.text).toBe(`celestea ${CLI_VERSION}\n`);
  });

  it.each([
    ['an unknown option', ['--bogus', 'q'], /unknown option "--bogus"/],
    ['a folder that is not there', ['--root', 'no\x1bpe', 'q'],
      /--root: the folder ".*no\\x1bpe" does not exist\n/],
    ['a file in place of a folder', ['--root', 'a.md', 'q'],
      /--root: expected a folder, but ".*a\.md" is a file\n/],
  ])('%s is misuse: told on stderr, with a hint', async (_, argv, message) => {
    const io = fakeIo({ cwd: freshFolder({ 'a.md': '' }) });
    expect(await runCli(argv, io)).toBe(2);
    expect(io.stderr.text).toMatch(/^celestea: [^]*\nTry celestea --help\.\n$/);
    expect(io.stderr.text).toMatch(message);
    expect(io.stderr.text).not.toContain('\x1b');
    expect(io.stdout.text).toBe('');
  });
});
