import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Gate, ScriptedLlm, callTools, say } from '@celestea/agent-loop/testing';
import type { Llm } from '@celestea/core';
import { describe, expect, it } from 'vitest';

import { runCli } from '../src/index.ts';
import { caller, CHOICES, lastResults, write } from './support/approval.ts';
import { freshFolder } from './support/folder.ts';
import { fakeIo, FakeOutput, type FakeIo } from './support/io.ts';
import { FakeTerminal, KEY } from './support/terminal.ts';

const PROMPT = '› ';
const PLAIN = { NO_COLOR: '1' };

interface Opened {
  readonly terminal: FakeTerminal;
  readonly io: FakeIo;
  readonly exit: Promise<number>;
}

/** A prompt that was asked something. */
async function prompted(llm: Llm, argv: readonly string[] = []): Promise<Opened> {
  const terminal = new FakeTerminal(400);
  const io = fakeIo({ cwd: freshFolder(), terminal, env: PLAIN });
  const exit = runCli(argv, io, { model: { name: 'scripted', llm } });
  await terminal.shows(PROMPT);
  terminal.type('go', KEY.enter);
  return { terminal, io, exit };
}

/** A single turn on a terminal. */
function asked(llm: Llm, argv: readonly string[] = []): Opened {
  const terminal = new FakeTerminal(400);
  const stdout = new FakeOutput(true, (text) => terminal.output.write(text));
  const io = fakeIo({ cwd: freshFolder(), terminal, stdout, env: PLAIN });
  return { terminal, io, exit: runCli([...argv, 'go'], io, { model: { name: 'scripted', llm } }) };
}

const KINDS = ['at the prompt', 'in a single turn'] as const;

async function opened(kind: (typeof KINDS)[number], llm: Llm): Promise<Opened> {
  return kind === 'at the prompt' ? prompted(llm) : asked(llm);
}

/** Waits for the end of the turn, and leaves the prompt. */
async function finished({ terminal, exit }: Opened): Promise<void> {
  await terminal.shows('completed');
  terminal.type(KEY.ctrlD);
  expect(await exit).toBe(0);
}

describe.each(KINDS)('a call that asks, %s', (kind) => {
  it('runs after y; the question shows name, arguments and why', async () => {
    const turn = await opened(kind, caller([write('a', 'x.md')]));
    const { terminal, io } = turn;
    await terminal.shows(CHOICES);
    expect(terminal.text).toContain(
      '? write_file {"content":"tea\\n","path":"x.md"}\n' +
        `  it can change things on this machine\n  ${CHOICES}\n`,
    );
    expect(existsSync(join(io.cwd, 'x.md'))).toBe(false);
    terminal.type('y', KEY.enter);
    await terminal.shows('write_file: allowed');
    await finished(turn);
    expect(readFileSync(join(io.cwd, 'x.md'), 'utf8')).toBe('tea\n');
  });

  it('is refused after n, and the model reads the reason', async () => {
    const llm = caller([write('a', 'x.md')]);
    const turn = await opened(kind, llm);
    await turn.terminal.shows(CHOICES);
    turn.terminal.type('n not now', KEY.enter);
    await turn.terminal.shows('write_file: refused: not now');
    await finished(turn);
    expect(lastResults(llm.requests[1])).toContain('denied: not now');
    expect(existsSync(join(turn.io.cwd, 'x.md'))).toBe(false);
  });

  it('asks again after what is no answer; a bare no will do', async () => {
    const llm = caller([write('a', 'x.md')]);
    const turn = await opened(kind, llm);
    await turn.terminal.shows(CHOICES);
    turn.terminal.type('maybe', KEY.enter);
    await turn.terminal.shows(CHOICES);
    turn.terminal.type('NO', KEY.enter);
    await turn.terminal.shows('write_file: refused: the person said no');
    await finished(turn);
    expect(llm.requests).toHaveLength(2);
  });

  it('is not asked about again after a, but another tool is', async () => {
    const command = { id: 'c', name: 'run_command', args: { command: ['true'] } };
    const llm = caller([write('a', 'x.md')], [write('b', 'y.md')], [command]);
    const turn = await opened(kind, llm);
    await turn.terminal.shows(CHOICES);
    turn.terminal.type('a', KEY.enter);
    await turn.terminal.shows('write_file: allowed, and from now on always');
    await turn.terminal.shows('write_file: allowed, as always');
    await turn.terminal.shows('? run_command');
    await turn.terminal.shows(CHOICES);
    turn.terminal.type('n', KEY.enter);
    await finished(turn);
    expect(existsSync(join(turn.io.cwd, 'y.md'))).toBe(true);
  });

  it('waits for its turn among the calls of one step', async () => {
    const turn = await opened(kind, caller([write('a', 'x.md'), write('b', 'y.md')]));
    await turn.terminal.shows('? write_file {"content":"tea\\n","path":"x.md"');
    await turn.terminal.shows(CHOICES);
    expect(turn.terminal.text).not.toContain('? write_file {"content":"tea\\n","path":"y.md"');
    turn.terminal.type('n', KEY.enter);
    await turn.terminal.shows('? write_file {"content":"tea\\n","path":"y.md"');
    await turn.terminal.shows(CHOICES);
    turn.terminal.type('y', KEY.enter);
    await finished(turn);
    expect(existsSync(join(turn.io.cwd, 'x.md'))).toBe(false);
    expect(existsSync(join(turn.io.cwd, 'y.md'))).toBe(true);
  });

  it('one a answers for the other calls of the step', async () => {
    const turn = await opened(kind, caller([write('a', 'x.md'), write('b', 'y.md')]));
    await turn.terminal.shows(CHOICES);
    turn.terminal.type('always', KEY.enter);
    await turn.terminal.shows('write_file: allowed, as always');
    await finished(turn);
    expect(existsSync(join(turn.io.cwd, 'y.md'))).toBe(true);
  });

  it('is withdrawn by Ctrl-C, which cancels the turn', async () => {
    const turn = await opened(kind, caller([write('a', 'x.md'), write('b', 'y.md')]));
    await turn.terminal.shows(CHOICES);
    turn.terminal.type(KEY.ctrlC);
    await turn.terminal.shows('cancelled');
    if (kind === 'at the prompt') {
      await turn.terminal.shows(PROMPT);
      turn.terminal.type(KEY.ctrlD);
    }
    expect(await turn.exit).toBe(kind === 'at the prompt' ? 0 : 130);
    const { text } = turn.terminal;
    expect(text.match(/write_file: not decided; the question is withdrawn\n/g)).toHaveLength(1);
    expect(text.match(/! #[12] write_file not run: nobody had allowed it yet\n/g)).toHaveLength(2);
    expect(text).not.toContain('it had started');
    expect(existsSync(join(turn.io.cwd, 'x.md'))).toBe(false);
  });

  it('cannot steer the terminal, and says how much of it is not shown', async () => {
    const content = `\x1b[2J\u202e${'x'.repeat(3000)}`;
    const turn = await opened(kind, caller([write('a', 'x.md', content)]));
    await turn.terminal.shows(CHOICES);
    expect(turn.terminal.raw).not.toContain('\x1b[2J');
    expect(turn.terminal.raw).not.toContain('\u202e');
    expect(turn.terminal.text).toMatch(/\n {2}\d{4} more characters are not shown\n/);
    turn.terminal.type('n', KEY.enter);
    await finished(turn);
  });
});

it('a line begun before the question stood there is no answer: it steers', async () => {
  const gate = new Gate();
  const llm = new ScriptedLlm([
    [() => gate.wait(), ...callTools(write('a', 'x.md'))],
    say('Done.'),
  ]);
  const turn = await prompted(llm);
  turn.terminal.type('y');
  await turn.terminal.shows(`${PROMPT}y`);
  gate.open();
  await new Promise((resolve) => setTimeout(resolve, 50));
  turn.terminal.type(KEY.enter);
  await turn.terminal.shows('steering: y');
  while (!turn.terminal.text.includes(CHOICES)) await new Promise(setImmediate);
  expect(existsSync(join(turn.io.cwd, 'x.md'))).toBe(false);
  turn.terminal.type('n', KEY.enter);
  await finished(turn);
});

it('what was typed ahead answers nothing in a single turn', async () => {
  const turn = asked(caller([write('a', 'x.md')]));
  turn.terminal.type('y', KEY.enter);
  await turn.terminal.shows(CHOICES);
  turn.terminal.type('n', KEY.enter);
  await finished(turn);
  expect(existsSync(join(turn.io.cwd, 'x.md'))).toBe(false);
});

describe('without anybody to ask', () => {
  const run = async (
    argv: readonly string[],
    given: Partial<FakeIo> = {},
  ): Promise<{ code: number; results: string; isWritten: boolean }> => {
    const llm = caller([write('a', 'x.md')]);
    const io = fakeIo({ cwd: freshFolder(), ...given });
    const code = await runCli([...argv, 'go'], io, { model: { name: 'scripted', llm } });
    const isWritten = existsSync(join(io.cwd, 'x.md'));
    return { code, results: lastResults(llm.requests[1]), isWritten };
  };
  it.each([
    ['no terminal', [], {}],
    ['--json', ['--json'], { terminal: new FakeTerminal() }],
    ['a terminal that can do nothing', [], { terminal: new FakeTerminal(), env: { TERM: 'dumb' } }],
  ])('%s: a call that asks is refused and says why', async (_, argv, given) => {
    const { code, results, isWritten } = await run(argv, given);
    expect({ code, isWritten }).toEqual({ code: 0, isWritten: false });
    expect(results).toContain('there is no terminal to ask on');
    expect(results).toContain('--yes allows what asks');
  });

  it.each([[[]], [['--json']]])('%j --yes allows what asks', async (argv) => {
    const { code, isWritten } = await run([...argv, '--yes']);
    expect({ code, isWritten }).toEqual({ code: 0, isWritten: true });
  });

  it('--read-only does not offer it, not even with --yes', async () => {
    const { results, isWritten } = await run(['--read-only', '--yes']);
    expect(isWritten).toBe(false);
    expect(results).toContain('unknown tool');
  });
});
