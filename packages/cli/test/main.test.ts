import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

import { describe, expect, it } from 'vitest';

import { celestea, Celestea } from './support/child.ts';
import { freshFolder, SESSION_FILE } from './support/folder.ts';
import { modelServer, words } from './support/model-server.ts';

// How long a process takes to start depends on the machine; these tests wait for what it does.
const PATIENCE = { timeout: 120_000 };
/** So long that the turn still runs whenever its first words are read. */
const FOR_EVER = '--model-delay=2147483647';

const project = (): string =>
  freshFolder({
    'README.md': '# Tea\n\nCancelling: hand in an AbortSignal.\n',
    'src/pour.ts': 'export const pour = (signal: AbortSignal): AbortSignal => signal;\n',
  });

describe('the command', PATIENCE, () => {
  it('answers from real files, without a control code in a pipe', async () => {
    const folder = project();
    const question =
      'which files mention AbortSignal, and what does README.md say about cancelling?';
    const { code, stdout, stderr } = await celestea(folder, [question], { TERM: 'xterm' });
    expect(stderr).toBe('');
    expect(stdout).toMatch(new RegExp(`^offline model · ${folder} · ${SESSION_FILE}\n\n`));
    expect(stdout).toMatch(/→ #\d search_text \{.*"AbortSignal"/);
    expect(stdout).toContain('src/pour.ts');
    expect(stdout).toContain('hand in an AbortSignal');
    expect(stdout).toMatch(/\ncompleted · \d steps · tokens \d+ prompt, \d+ completion · .+\n$/);
    // eslint-disable-next-line no-control-regex -- they are what it is about
    expect(stdout).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f]/);
    expect(code).toBe(0);
  });

  it('prints frames with --json', async () => {
    const { code, stdout, stderr } = await celestea(project(), ['--json', 'list', 'src']);
    const lines = stdout.trimEnd().split('\n');
    const frames = lines.map((line) => JSON.parse(line) as { seq: number; event: string });
    expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, index) => index));
    expect(frames.at(-1)).toMatchObject({ event: 'turn_end', payload: { outcome: 'completed' } });
    expect(stderr).toBe('');
    expect(code).toBe(0);
  });

  it('asks a real model where the environment has its key', async () => {
    const { url, asked } = await modelServer(words('Good morning.'));
    const env = { OPENAI_API_KEY: 'of-a-test', OPENAI_BASE_URL: url };
    const { code, stdout, stderr } = await celestea(project(), ['hello'], env);
    expect(stdout).toMatch(/^openai:.* · [^]*\n\nGood morning\.\n\ncompleted · 1 step · /);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(asked.map(({ authorization }) => authorization)).toEqual(['Bearer of-a-test']);
  });

  it('exits 2 on misuse', async () => {
    const { code, stdout, stderr } = await celestea(project(), ['--bogus']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('unknown option "--bogus"');
  });

  it('prints help without a question', async () => {
    const { code, stdout } = await celestea(project(), []);
    expect(stdout).toContain('Usage\n');
    expect(code).toBe(0);
    const withOptions = await celestea(project(), ['--root', '.']);
    expect(withOptions.stdout).toBe(stdout);
    expect(withOptions.code).toBe(2);
  });
});

describe('a running turn', PATIENCE, () => {
  it('is cancelled by SIGINT and still says how it ended', async () => {
    const command = new Celestea(project(), [FOR_EVER, 'what does README.md say?']);
    await command.printed('\n\nThe');
    command.child.kill('SIGINT');
    const { code, stdout, stderr } = await command.ended;
    expect(stdout).toMatch(/\n\ncancelled · 1 step · no tokens reported · .*\n$/);
    expect(stderr).toBe('');
    expect(code).toBe(130);
  });

  it('is cancelled by SIGTERM as well, with its own code', async () => {
    const command = new Celestea(project(), [FOR_EVER, 'what does README.md say?']);
    await command.printed('\n\nThe');
    command.child.kill('SIGTERM');
    const { code, stdout, stderr } = await command.ended;
    expect(stdout).toMatch(/\n\ncancelled · 1 step · no tokens reported · .*\n$/);
    expect({ code, stderr }).toEqual({ code: 143, stderr: '' });
  });

  it('is cancelled quietly when the reader of its pipe goes away', async () => {
    const args = ['--model-delay=300', 'what does README.md say?'];
    const command = new Celestea(project(), args);
    await command.printed('\n\nThe');
    command.child.stdout.destroy();
    const { code, stderr } = await command.ended;
    expect({ code, stderr }).toEqual({ code: 130, stderr: '' });
  });
});

it.runIf(existsSync('/dev/full'))('fails when its output cannot be written', PATIENCE, async () => {
  const main = resolve(import.meta.dirname, '../src/main.ts');
  const child = spawn(
    '/bin/sh',
    ['-c', 'exec "$0" --import tsx "$1" --version > /dev/full', process.execPath, main],
    { cwd: import.meta.dirname, env: {}, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const code = await new Promise((done) => child.on('close', done));
  expect(stderr).toMatch(/^celestea: stdout: ENOSPC.*\n$/);
  expect(code).toBe(1);
});
