import { chmodSync, existsSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { workTools, type RunCommandResult } from '@celestea/tools';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { failureOf, freshFolder, put } from './support/folder.ts';
import { toolNamed } from './support/work.ts';

let root = '';
let outside = '';

beforeEach(() => {
  const top = freshFolder({ 'root/folder/a.txt': 'inside', 'root-next-door/b.txt': 'secret' });
  root = join(top, 'root');
  outside = join(top, 'root-next-door');
});

afterEach(() => {
  vi.unstubAllEnvs();
});

const runner = (env: Record<string, string> = {}): ReturnType<typeof toolNamed> =>
  toolNamed(workTools(root, { ask: false, env }), 'run_command');

const run = async (command: string[], more: object = {}): Promise<RunCommandResult> =>
  (await runner().execute({ command, ...more })) as RunCommandResult;

const shell = (script: string, more: object = {}): Promise<RunCommandResult> =>
  run(['sh', '-c', script], more);

describe('run_command', () => {
  test('gives the exit code and both outputs', async () => {
    expect(await shell('echo out; echo err >&2')).toEqual({
      exit_code: 0,
      signal: null,
      stdout: 'out\n',
      stderr: 'err\n',
      timed_out: false,
    });
  });

  test('a code that is not zero, or a signal, is a result and no failure', async () => {
    expect(await shell('echo half; exit 3')).toMatchObject({ exit_code: 3, stdout: 'half\n' });
    expect(await shell('kill -9 $$')).toMatchObject({ exit_code: null, signal: 'SIGKILL' });
  });

  test('there is no shell: its characters are arguments like any other', async () => {
    const args = ['$(touch x)', '`touch x`', '; touch x', '&& touch x', '| cat', '> x', '*', '~',
      '$HOME', 'a b', '"', "'", '\\', '\n', '', '-n', '#', '${IFS}', '%s'];
    expect((await run(['printf', '[%s]', ...args])).stdout).toBe(
      args.map((arg) => `[${arg}]`).join(''),
    );
    expect(await failureOf(runner(), { command: ['echo a; touch x'] })).toBe(
      'command: "echo a; touch x" was not found',
    );
    expect(readdirSync(root)).toEqual(['folder']);
  });

  test('what cannot be started is an error that says why', async () => {
    put(join(root, 'plain'), 'text');
    put(join(root, 'lost'), '#!/nowhere/at/all\n');
    chmodSync(join(root, 'plain'), 0o644);
    chmodSync(join(root, 'lost'), 0o755);
    const cases: [string[], string][] = [
      [['no-such-program'], 'command: "no-such-program" was not found'],
      [['./none'], 'command: "./none" was not found'],
      [['./lost'], 'command: "./lost" was not found'],
      [['./plain'], 'command: "./plain" may not be run (permission denied)'],
      [['./folder'], 'command: "./folder" may not be run (permission denied)'],
      [['./plain/x'], 'command: "./plain/x" goes through something that is not a folder'],
      [
        ['echo', 'x'.repeat(4 * 2 ** 20)],
        'command: "echo" could not be started: its arguments are too long',
      ],
    ];
    for (const [command, text] of cases) {
      expect(await failureOf(runner(), { command })).toBe(text);
    }
  });

  test('arguments that do not fit are errors', async () => {
    const cases: [object, string][] = [
      [{}, 'command: expected an array, got nothing'],
      [{ command: 'ls -l' }, 'command: expected an array, got "ls -l"'],
      [{ command: ['ls', 5] }, 'command[1]: expected a string, got 5'],
      [{ command: ['ls', 'a\0b'] }, 'command: expected strings without NUL characters, got one'],
      [{ command: [] }, 'command: expected at least 1 items, got an array'],
      [{ command: [''] }, 'command: expected the name of a program first, got none'],
      [{ command: ['ls'], timeout_ms: 0 }, 'timeout_ms: expected a number >= 1, got 0'],
      [{ command: ['ls'], timeout_ms: 600_001 }, 'timeout_ms: expected a number <= 600000'],
      [{ command: ['ls'], shell: true }, 'arguments: expected only command, cwd, timeout_ms'],
    ];
    for (const [args, text] of cases) expect(await failureOf(runner(), args)).toContain(text);
  });

  test('it has nothing to read, and no terminal', async () => {
    expect(await run(['cat'])).toMatchObject({ exit_code: 0, stdout: '' });
    expect((await shell('(: < /dev/tty) 2>/dev/null && echo tty || echo none')).stdout).toBe(
      'none\n',
    );
  });

  test('bytes that are no UTF-8 are replaced', async () => {
    expect((await shell("printf 'a\\377b\\303\\251'")).stdout).toBe('a\ufffdbé');
  });

  test('200 MB of output: the first and the last of it, and never all of it at once', async () => {
    const before = process.resourceUsage().maxRSS;
    const result = await run(['head', '-c', '200000000', '/dev/zero']);
    const half = '\0'.repeat(32_768);
    const left = String(200_000_000 - 65_536);
    expect(result.stdout === `${half}\n[… ${left} bytes left out …]\n${half}`).toBe(true);
    expect(result).toMatchObject({ exit_code: 0, stderr: '' });
    expect(process.resourceUsage().maxRSS - before).toBeLessThan(150_000);
  });

  test('each output is bounded by itself', async () => {
    const count = 'head -c 100000 /dev/zero';
    const { stdout, stderr } = await shell(`${count}; ${count} >&2; echo end; echo END >&2`);
    expect(stdout).toMatch(/\[… 34468 bytes left out …\]\n\0+end\n$/);
    expect(stderr).toMatch(/\[… 34468 bytes left out …\]\n\0+END\n$/);
  });

  test('says in a word to people how it went', async () => {
    const tool = runner();
    const rendered = async (script: string): Promise<string | null | undefined> => {
      const args = { command: ['sh', '-c', script] };
      return (await tool.executeWith?.({ call_id: '1', name: 'run_command', args }))?.render;
    };
    expect(await rendered('exit 3')).toBe('exit 3');
    expect(await rendered('kill -TERM $$')).toBe('ended by SIGTERM');
  });

  test('on Windows it says that it does not work, and why', async () => {
    const { platform } = process;
    Object.defineProperty(process, 'platform', { value: 'win32' });
    try {
      expect(await failureOf(runner(), { command: ['cmd'] })).toBe(
        'run_command does not work on Windows: ' +
          'what a command starts could not be ended with it there',
      );
    } finally {
      Object.defineProperty(process, 'platform', { value: platform });
    }
  });
});

describe('the environment of a command', () => {
  const variables = async (env?: Record<string, string>): Promise<Map<string, string>> => {
    const { stdout } = (await runner(env).execute({ command: ['env'] })) as RunCommandResult;
    return new Map(
      stdout
        .trim()
        .split('\n')
        .map((line): [string, string] => {
          const at = line.indexOf('=');
          return [line.slice(0, at), line.slice(at + 1)];
        }),
    );
  };

  test('holds no key, no token, and nothing that changes what a program loads', async () => {
    const secrets = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GITHUB_TOKEN', 'NPM_TOKEN',
      'AWS_SECRET_ACCESS_KEY', 'DATABASE_URL', 'SSH_AUTH_SOCK', 'HTTPS_PROXY', 'PASSWORD',
      'NODE_OPTIONS', 'BASH_ENV', 'ENV', 'PYTHONPATH', 'GIT_SSH_COMMAND', 'path', 'Home'];
    for (const name of secrets) vi.stubEnv(name, 'leaked');
    const found = await variables();
    expect([...found.values()].join()).not.toContain('leaked');
    const safe = ['HOME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'LOGNAME', 'PATH', 'SHELL', 'TERM',
      'TMPDIR', 'TZ', 'USER'];
    // `_` and its kind are set by some shells on the way.
    expect([...found.keys()].filter((name) => !safe.includes(name))).toEqual([]);
    expect(found.get('TERM')).toBe('dumb');
    expect(found.get('HOME')).toBe(process.env['HOME']);
  });

  test('has what the host adds, which wins', async () => {
    const found = await variables({ BUILD: 'a=b c', TERM: 'xterm' });
    expect([found.get('BUILD'), found.get('TERM')]).toEqual(['a=b c', 'xterm']);
  });

  test('has a PATH of absolute folders: what lies in the folder is no program', async () => {
    put(join(root, 'sh'), '#!/bin/sh\necho fooled\n');
    put(join(root, 'only-here'), '#!/bin/sh\necho fooled\n');
    for (const name of ['sh', 'only-here']) chmodSync(join(root, name), 0o755);
    for (const path of ['.:/usr/bin:/bin', ':/usr/bin:folder/..:/bin:', '/usr/bin:/bin']) {
      vi.stubEnv('PATH', path);
      expect((await variables()).get('PATH')).toBe('/usr/bin:/bin');
      expect((await shell('echo fine')).stdout).toBe('fine\n');
      expect(await failureOf(runner(), { command: ['only-here'] })).toContain('was not found');
    }
    expect((await run(['./only-here'])).stdout).toBe('fooled\n');
    vi.stubEnv('PATH', '.');
    expect((await variables()).get('PATH')).toBe('/usr/local/bin:/usr/bin:/bin');
  });
});

describe('where a command starts', () => {
  test('in the root, or in a folder of it', async () => {
    symlinkSync('folder', join(root, 'way'));
    expect((await run(['pwd'])).stdout).toBe(`${root}\n`);
    for (const cwd of ['folder', './folder/', 'way', 'folder/../folder']) {
      expect((await run(['pwd', '-P'], { cwd })).stdout).toBe(`${root}/folder\n`);
    }
  });

  test('never outside', async () => {
    symlinkSync(outside, join(root, 'out'));
    symlinkSync('/', join(root, 'all'));
    const cases: [string, string][] = [
      ['..', 'which leads outside'],
      ['../root-next-door', 'which leads outside'],
      ['folder/../../root-next-door', 'which leads outside'],
      ['../ROOT', 'which leads outside'],
      ['out', 'which leads outside'],
      ['out/missing', 'which leads outside'],
      ['all/tmp', 'which leads outside'],
      ['/', 'expected a path relative to the root'],
      [outside, 'expected a path relative to the root'],
      ['folder\0', 'without NUL characters'],
      ['missing', 'does not exist'],
      ['folder/a.txt', 'expected a folder, got "folder/a.txt", which is a file'],
    ];
    for (const [cwd, text] of cases) {
      const came = await failureOf(runner(), { command: ['touch', 'x'], cwd });
      expect(came).toMatch(/^cwd: /);
      expect(came).toContain(text);
    }
    expect([existsSync(join(outside, 'x')), existsSync(join(root, 'x'))]).toEqual([false, false]);
  });
});
