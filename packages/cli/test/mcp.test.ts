import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import { runCli } from '../src/index.ts';
import { splitWords } from '../src/option-values.ts';
import { caller, CHOICES, lastResults } from './support/approval.ts';
import { Celestea } from './support/child.ts';
import { freshFolder } from './support/folder.ts';
import { fakeIo } from './support/io.ts';
import { sessionNames } from './support/session.ts';
import { FakeTerminal, KEY } from './support/terminal.ts';

const SERVER = fileURLToPath(
  new URL('../../mcp/test/support/server.mjs', import.meta.url),
);
const COMMAND = `'${process.execPath}' "${SERVER}"`;
// These start processes; how long that takes depends on the machine.
const PATIENCE = { timeout: 120_000 };

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10));

/** Waits for a file with a number and a point behind it. */
async function pidIn(file: string): Promise<number> {
  for (;;) {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    if (text.endsWith('.')) return Number(text.slice(0, -1));
    await pause();
  }
}

describe('--mcp', PATIENCE, () => {
  it('offers the tools of a server, which ask; the server is gone after the turn', async () => {
    const llm = caller([{ id: 'a', name: 'mcp1_facts', args: {} }]);
    const terminal = new FakeTerminal(400);
    const io = fakeIo({ cwd: freshFolder(), terminal });
    const parts = { model: { name: 'scripted', llm } };
    const exit = runCli(['--mcp', COMMAND, '--read-only', 'go'], io, parts);
    await terminal.shows('it is a tool of an MCP server');
    await terminal.shows(CHOICES);
    terminal.type('y', KEY.enter);
    expect(await exit).toBe(0);
    const results = lastResults(llm.requests[1]);
    expect(results).toContain(io.cwd); // it runs where the person is
    const pid = Number(/"pid\\*":(\d+)/.exec(results)?.[1]);
    expect(pid).toBeGreaterThan(0);
    expect(isAlive(pid)).toBe(false);
    expect(llm.requests[0]?.tools.map(({ name }) => name)).not.toContain('write_file');
  });

  it('refuses a call without a terminal, and --yes allows it', async () => {
    const cases = [
      [['--mcp', COMMAND], 'mcp1_echo', '--yes allows what asks'],
      [['--mcp', COMMAND, '--mcp', COMMAND, '--yes'], 'mcp2_echo', 'leaves'],
    ] as const;
    for (const [argv, name, expected] of cases) {
      const llm = caller([{ id: 'a', name, args: { text: 'leaves' } }]);
      const io = fakeIo({ cwd: freshFolder() });
      const parts = { model: { name: 'scripted', llm } };
      expect(await runCli([...argv, 'go'], io, parts)).toBe(0);
      expect(lastResults(llm.requests[1])).toContain(expected);
    }
  });

  it.each([
    ['is no program', [COMMAND, 'no-such-program-here --flag']],
    ['ends at once', [`'${process.execPath}' -e "process.stderr.write('no key'); process.exit(3)"`]],
    ['does not answer', ['http://127.0.0.1:1/mcp']],
  ])('a server that %s is one line and code 1, and there is no session', async (_, servers) => {
    const io = fakeIo({ cwd: freshFolder() });
    expect(await runCli([...servers.flatMap((one) => ['--mcp', one]), 'go'], io)).toBe(1);
    const message = new RegExp(`^celestea: --mcp ${String(servers.length)}: [^\n]+\n$`);
    expect(io.stderr.text).toMatch(message);
    expect(io.stdout.text).toBe('');
    expect(sessionNames(io.cwd)).toEqual([]);
  });

  it('a cancel does not wait for a server that does not answer, and ends it', async () => {
    const folder = freshFolder();
    const code = "require('fs').writeFileSync('pid', process.pid + '.'); setInterval(() => {}, 1e6)";
    const command = new Celestea(folder, ['--mcp', `'${process.execPath}' -e "${code}"`, 'go']);
    const pid = await pidIn(join(folder, 'pid'));
    command.child.kill('SIGINT');
    const ended = await command.ended;
    expect(ended.code).toBe(130);
    expect(ended.stderr).toBe('celestea: cancelled while the MCP servers were started\n');
    while (isAlive(pid)) await pause();
  });
});

describe('celestea tools', () => {
  const list = async (argv: readonly string[]): Promise<string> => {
    const io = fakeIo({ cwd: freshFolder() });
    expect(await runCli(['tools', ...argv], io)).toBe(0);
    expect(io.stderr.text).toBe('');
    return io.stdout.text;
  };

  it('lists the names, whether they ask, and what they are', async () => {
    expect((await list([])).split('\n')).toEqual([
      expect.stringMatching(/^list_dir {11}\S/),
      expect.stringMatching(/^read_file {10}\S/),
      expect.stringMatching(/^run_command {2}asks {2}Runs a program/),
      expect.stringMatching(/^search_text {8}\S/),
      expect.stringMatching(/^write_file {3}asks {2}\S/),
      '',
    ]);
  });

  it('--read-only leaves out what changes things', async () => {
    expect(await list(['--read-only'])).not.toMatch(/asks|write_file|run_command/);
  });

  it('--json prints the specs', async () => {
    const lines = (await list(['--json'])).trimEnd().split('\n');
    const specs = lines.map((line) => JSON.parse(line) as unknown);
    expect(specs).toHaveLength(5);
    expect(specs[0]).toMatchObject({ name: 'list_dir', parameters: { type: 'object' } });
  });

  it('lists those of a server as well', PATIENCE, async () => {
    expect(await list(['--mcp', COMMAND])).toMatch(/\nmcp1_echo +asks {2}Does echo\.\n/);
  });

  it.each([
    [['tools', '--yes'], 'expected no option but --root, --json, --mcp, --read-only, got --yes'],
    [['tools', '--root', '/nowhere/at/all'], '--root: the folder "/nowhere/at/all" does not exist'],
    [['--mcp', ' ', 'q'], '--mcp: expected a command with its arguments, or an http or https URL'],
    [['--mcp', 'a "b', 'q'], 'got a quote or \\ without its end in "a "b"'],
    [['--mcp', 'ftp://host/', 'q'], 'got a URL of another kind'],
    [['--mcp', 'https://', 'q'], 'got a URL that cannot be read'],
    [['--mcp'], '--mcp: expected a command or a URL, got nothing'],
    [['--yes=1', 'q'], '--yes: expected no value, got "1"'],
    [['log', 'file', '--read-only'], 'expected no option but --json, got --read-only'],
  ])('%j is misuse', async (argv, error) => {
    const io = fakeIo({ cwd: freshFolder() });
    expect(await runCli(argv, io)).toBe(2);
    expect(io.stderr.text).toContain(error);
  });
});

it.each([
  ['a  b\tc', ['a', 'b', 'c']],
  [`'a b' "c d" e\\ f`, ['a b', 'c d', 'e f']],
  [`a'b'"c"`, ['abc']],
  [`'' ""`, ['', '']],
  [`"a\\"b\\\\c\\d" '\\'`, ['a"b\\c\\d', '\\']],
  ['$HOME `id` * | ;', ['$HOME', '`id`', '*', '|', ';']],
  ['', []],
  ["a 'b", null],
  ['a "b\\"', null],
  ['a\\', null],
])('splits %j', (text, words) => {
  expect(splitWords(text)).toEqual(words);
});
