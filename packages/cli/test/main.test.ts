import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

import { assertLogValid } from '@celestea/agent-loop/check';
import { describe, expect, it } from 'vitest';

import { runCli } from '../src/index.ts';
import { celestea, Celestea, type Ended } from './support/child.ts';
import { freshFolder, SESSION_FILE } from './support/folder.ts';
import { fakeIo } from './support/io.ts';
import { hashOf, onlySession, rowsIn, sessionNames } from './support/session.ts';

// How long a process takes to start depends on the machine; these tests wait for what it does.
const PATIENCE = { timeout: 120_000 };
/** So long that the turn still runs whenever its first words are read. */
const FOR_EVER = '--model-delay=2147483647';

const project = (): string =>
  freshFolder({
    'README.md': '# Tea\n\nCancelling: hand in an AbortSignal.\n',
    'src/pour.ts': 'export const pour = (signal: AbortSignal): AbortSignal => signal;\n',
  });

/** Runs a command in this process. */
async function here(cwd: string, ...argv: string[]): Promise<Omit<Ended, 'code'> & { code: number }> {
  const io = fakeIo({ cwd });
  const code = await runCli(argv, io);
  return { code, stdout: io.stdout.text, stderr: io.stderr.text };
}

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

});

describe('a running turn', PATIENCE, () => {
  it('is cancelled by SIGINT, still says how it ended, and closes its session', async () => {
    const folder = project();
    const command = new Celestea(folder, [FOR_EVER, 'what does README.md say?']);
    await command.printed('\n\nThe');
    command.child.kill('SIGINT');
    const { code, stdout, stderr } = await command.ended;
    expect(stdout).toMatch(/\n\ncancelled · 1 step · no tokens reported · .*\n$/);
    expect({ code, stderr }).toEqual({ code: 130, stderr: '' });
    const path = onlySession(folder); // no lock is left beside it
    const rows = rowsIn(path);
    assertLogValid(rows);
    expect(rows.at(-1)).toEqual({ type: 'turn_end', id: 'turn-0', outcome: 'cancelled' });
  });

  it('is cancelled by SIGTERM as well, with its own code', async () => {
    const command = new Celestea(project(), [FOR_EVER, 'what does README.md say?']);
    await command.printed('\n\nThe');
    command.child.kill('SIGTERM');
    const { code, stdout, stderr } = await command.ended;
    expect(stdout).toMatch(/\n\ncancelled · 1 step · no tokens reported · .*\n$/);
    expect({ code, stderr }).toEqual({ code: 143, stderr: '' });
  });

  it('whose process is killed is closed by the session that resumes it', async () => {
    const folder = freshFolder({ 'README.md': '# Tea\n' });
    const first = new Celestea(folder, [FOR_EVER, 'what does README.md say?']);
    await first.printed('\n\nThe');
    const name = sessionNames(folder).find((one) => one.endsWith('.jsonl')) ?? '';
    const file = `.celestea/sessions/${name}`;
    expect(first.stdout).toContain(` · ${file}\n`);
    const whileOpen = await here(folder, '--resume', 'hello');
    expect(whileOpen.code).toBe(1);
    expect(whileOpen.stderr).toMatch(
      new RegExp(`^celestea: .* is in use by process ${String(first.child.pid)} [^\n]*\n$`),
    );
    const running = await here(folder, 'check', file);
    expect(running.stdout).toContain('open turn:      turn-0, running\n');
    expect(running.code).toBe(0);

    first.child.kill('SIGKILL');
    await first.ended;
    const path = `${folder}/${file}`;
    const hash = hashOf(path);
    const dead = await here(folder, 'check', file);
    expect(dead.stdout).toContain('open turn:      turn-0; closed when the session goes on\n');
    expect(dead.stdout).toContain('open elsewhere: no\n');
    expect(dead.code).toBe(1);
    expect(hashOf(path)).toBe(hash);

    const second = await here(folder, '--resume', 'how many lines has README.md?');
    expect(second.stderr).toBe('');
    expect(second.stdout).toContain(
      ` · ${file}\nresumed with 1 message · closed turn-0, which was interrupted\n\n`,
    );
    expect(second.stdout).toContain('`README.md` has 1 line.');
    expect(second.code).toBe(0);
    expect(onlySession(folder)).toBe(path);
    const rows = rowsIn(path);
    assertLogValid(rows);
    expect(rows.filter(({ type }) => type === 'turn_start' || type === 'turn_end')).toEqual([
      { type: 'turn_start', id: 'turn-0' },
      { type: 'turn_end', id: 'turn-0', outcome: 'interrupted' },
      { type: 'turn_start', id: 'turn-1' },
      { type: 'turn_end', id: 'turn-1', outcome: 'completed' },
    ]);
    const shown = await here(folder, 'log', file);
    expect(shown.stdout).toContain('› what does README.md say?\n');
    expect(shown.stdout).toContain('\nturn-0 interrupted\n\nturn-1\n› how many lines');
    expect(shown).toMatchObject({ code: 0, stderr: '' });
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
