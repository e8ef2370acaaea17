import {
  callTools,
  failingLlm,
  Gate,
  HangingLlm,
  say,
  ScriptedLlm,
  think,
} from '@celestea/agent-loop/testing';
import { messageTexts, type Llm, type ModelRequest } from '@celestea/core';
import { describe, expect, it } from 'vitest';

import { runCli } from '../src/index.ts';
import { freshFolder, SESSION_FILE } from './support/folder.ts';
import { FakeClock, fakeIo, FakeOutput, type FakeIo } from './support/io.ts';
import { FakeTerminal, KEY } from './support/terminal.ts';

const PROMPT = '› ';

interface Opened {
  readonly terminal: FakeTerminal;
  readonly io: FakeIo;
  readonly clock: FakeClock;
  readonly exit: Promise<number>;
}

async function open(
  llm: Llm,
  given: Partial<FakeIo> = {},
  argv: readonly string[] = [],
): Promise<Opened> {
  const terminal = new FakeTerminal();
  const clock = new FakeClock();
  const io = fakeIo({ cwd: freshFolder({ 'a.md': 'x\n' }), terminal, now: clock.now, ...given });
  const exit = runCli(argv, io, { model: { name: 'scripted', llm } });
  await terminal.shows(PROMPT);
  return { terminal, io, clock, exit };
}

const said = ({ messages }: ModelRequest): string[] =>
  messages.filter(({ role }) => role === 'user').map((one) => messageTexts(one).join(''));

describe('a conversation', () => {
  it('runs turn after turn over one log, and /quit leaves', async () => {
    const llm = new ScriptedLlm([say('One.'), say('Two.')]);
    const { terminal, io, exit } = await open(llm);
    expect(terminal.text).toMatch(
      new RegExp(`^scripted · ${io.cwd} · ${SESSION_FILE}\n\nAsk about the files here\\.`),
    );
    terminal.type('first', KEY.enter);
    await terminal.shows(PROMPT);
    terminal.type('second', KEY.enter);
    await terminal.shows('Two.');
    await terminal.shows(PROMPT);
    terminal.type('/quit', KEY.enter);
    expect(await exit).toBe(0);
    expect(llm.requests.map(said)).toEqual([['first'], ['first', 'second']]);
    expect(terminal.text).toMatch(/One\.\n\ncompleted · 1 step · [^\n]+\n\n› /);
    expect([io.stdout.text, io.stderr.text]).toEqual(['', '']);
  });

  it('does nothing for an empty line', async () => {
    const llm = new ScriptedLlm([]);
    const { terminal, exit } = await open(llm);
    terminal.type(KEY.enter);
    await terminal.shows(PROMPT);
    terminal.type('  ', KEY.enter);
    await terminal.shows(PROMPT);
    terminal.type(KEY.ctrlD);
    expect(await exit).toBe(0);
    expect(llm.requests).toEqual([]);
  });

  it('has /help, and says what a command is that it does not know', async () => {
    const { terminal, exit } = await open(new ScriptedLlm([]));
    terminal.type('/help', KEY.enter);
    await terminal.shows('While a turn runs, a line steers it');
    await terminal.shows(PROMPT);
    terminal.type('/hulp', KEY.enter);
    await terminal.shows('unknown command /hulp; /help lists them');
    await terminal.shows(PROMPT);
    terminal.type('/quit', KEY.enter);
    expect(await exit).toBe(0);
  });

  it('goes on after a turn that failed', async () => {
    const { terminal, exit } = await open(failingLlm(new Error('no such model')));
    terminal.type('hello', KEY.enter);
    await terminal.shows('(generate: no such model)');
    await terminal.shows(PROMPT);
    terminal.type(KEY.ctrlD);
    expect(await exit).toBe(0);
  });

  it('takes the limits of the command line', async () => {
    const looping = Array.from({ length: 2 }, (_, step) =>
      callTools({ id: `c${String(step)}`, name: 'list_dir', args: {} }),
    );
    const { terminal, exit } = await open(new ScriptedLlm(looping), {}, ['--max-steps', '2']);
    terminal.type('hello', KEY.enter);
    await terminal.shows('stopped at the step limit');
    await terminal.shows(PROMPT);
    terminal.type(KEY.ctrlD);
    expect(await exit).toBe(0);
  });
});

describe('steering', () => {
  it('shows a line as taken, and the model gets it with its next request', async () => {
    const gate = new Gate();
    const llm = new ScriptedLlm([
      [think('Hm.'), () => gate.wait(), ...callTools({ id: 'a', name: 'list_dir', args: {} })],
      say('Done.'),
    ]);
    const { terminal, exit } = await open(llm);
    terminal.type('first', KEY.enter);
    await terminal.shows('Hm.');
    terminal.type('also this', KEY.enter);
    await terminal.shows('steering: also this');
    expect(terminal.raw).toContain('\x1b[2msteering: also this\x1b[22m');
    terminal.type(KEY.enter); // does nothing here either
    gate.open();
    await terminal.shows('Done.');
    await terminal.shows(PROMPT);
    terminal.type('/quit', KEY.enter);
    expect(await exit).toBe(0);
    expect(llm.requests.map(said)).toEqual([['first'], ['first', 'also this']]);
  });

  it('keeps a turn going that had its answer', async () => {
    const gate = new Gate();
    const llm = new ScriptedLlm([[think('Hm.'), () => gate.wait(), ...say('One.')], say('Two.')]);
    const { terminal, exit } = await open(llm);
    terminal.type('first', KEY.enter);
    await terminal.shows('Hm.');
    terminal.type('more', KEY.enter);
    await terminal.shows('steering: more');
    gate.open();
    await terminal.shows('Two.');
    await terminal.shows('2 steps');
    await terminal.shows(PROMPT);
    terminal.type(KEY.ctrlD);
    expect(await exit).toBe(0);
  });

  it('asks a line that came too late as the next question', async () => {
    const gate = new Gate();
    const llm = new ScriptedLlm([
      [think('Hm.'), () => gate.wait(), ...callTools({ id: 'a', name: 'list_dir', args: {} })],
      say('Two.'),
    ]);
    const { terminal, exit } = await open(llm, {}, ['--max-steps=1']);
    terminal.type('first', KEY.enter);
    await terminal.shows('Hm.');
    terminal.type('then', KEY.enter, 'that', KEY.enter);
    await terminal.shows('steering: that');
    gate.open();
    await terminal.shows('stopped at the step limit');
    await terminal.shows('Two.');
    await terminal.shows(PROMPT);
    terminal.type(KEY.ctrlD);
    expect(await exit).toBe(0);
    expect(llm.requests.map(said)).toEqual([['first'], ['first', 'then\nthat']]);
  });

  it('says what was not sent when the turn is cancelled', async () => {
    const { terminal, exit } = await open(new HangingLlm([think('Hm.')]));
    terminal.type('first', KEY.enter);
    await terminal.shows('Hm.');
    terminal.type('too late', KEY.enter);
    await terminal.shows('steering: too late');
    terminal.type(KEY.ctrlC);
    await terminal.shows('not sent, the turn was over: too late');
    await terminal.shows(PROMPT);
    terminal.type(KEY.ctrlD);
    expect(await exit).toBe(0);
  });

  it('leaves the commands commands', async () => {
    const { terminal, exit } = await open(new HangingLlm([think('Hm.')]));
    terminal.type('first', KEY.enter);
    await terminal.shows('Hm.');
    terminal.type('/help', KEY.enter);
    await terminal.shows('/quit    leave');
    terminal.type('/quit', KEY.enter);
    expect(await exit).toBe(0);
    expect(terminal.text).toContain('\ncancelled · ');
  });
});

describe('Ctrl-C', () => {
  it('cancels the turn that runs, and the prompt stays', async () => {
    const { terminal, exit } = await open(new HangingLlm([think('Hm.')]));
    for (const question of ['first', 'second']) {
      terminal.type(question, KEY.enter);
      await terminal.shows('Hm.');
      terminal.type(KEY.ctrlC);
      await terminal.shows('cancelled');
      await terminal.shows(PROMPT);
    }
    terminal.type(KEY.ctrlC);
    expect(await exit).toBe(0);
  });

  it('drops a half-typed line first', async () => {
    const { terminal, exit } = await open(new ScriptedLlm([]));
    terminal.type('nonsense', KEY.ctrlC);
    await terminal.shows(PROMPT);
    terminal.type(KEY.ctrlC);
    expect(await exit).toBe(0);
  });

  it('pressed again leaves at once, whatever still runs', async () => {
    const { terminal, clock, exit } = await open(new HangingLlm([think('Hm.')]));
    terminal.type('first', KEY.enter);
    await terminal.shows('Hm.');
    terminal.type(KEY.ctrlC);
    clock.pass(500);
    terminal.type(KEY.ctrlC); // the turn has had no time to end
    expect(await exit).toBe(130);
    await terminal.shows('cancelled'); // let it end, for the sake of the other tests
  });
});

describe('leaving while a turn runs', () => {
  it.each([
    ['Ctrl-D', KEY.ctrlD],
    ['/quit', `/quit${KEY.enter}`],
  ])('%s cancels it and waits for its end', async (_, keys) => {
    const { terminal, exit } = await open(new HangingLlm([think('Hm.')]));
    terminal.type('first', KEY.enter);
    await terminal.shows('Hm.');
    terminal.type(keys);
    expect(await exit).toBe(0);
    expect(terminal.text).toMatch(/\ncancelled · 1 step · .*\n$/);
  });

  it('a signal does as well, with the code of a cancel', async () => {
    const cancel = new AbortController();
    const { terminal, exit } = await open(new HangingLlm([think('Hm.')]), {
      signal: cancel.signal,
    });
    terminal.type('first', KEY.enter);
    await terminal.shows('Hm.');
    cancel.abort();
    expect(await exit).toBe(130);
    expect(terminal.text).toMatch(/\ncancelled · 1 step · .*\n$/);
  });

  it.each([
    ['at the idle prompt', false],
    ['before it opened', true],
  ])('a signal %s', async (_, early) => {
    const cancel = new AbortController();
    if (early) cancel.abort();
    const terminal = new FakeTerminal();
    const io = fakeIo({ cwd: freshFolder(), terminal, signal: cancel.signal });
    const exit = runCli([], io);
    if (!early) await terminal.shows(PROMPT);
    cancel.abort();
    expect(await exit).toBe(130);
  });
});

describe('diagnostics', () => {
  const late = (): ScriptedLlm =>
    new ScriptedLlm([[...say('Done.'), { kind: 'text', text: ' Late.' }]]);

  it.each([
    ['a terminal: among the lines of the turn', true],
    ['a file: there', false],
  ])('when stderr is %s', async (_, isTTY) => {
    const stderr = new FakeOutput(isTTY);
    const { terminal, exit } = await open(late(), { stderr });
    terminal.type('hello', KEY.enter);
    await terminal.shows('Done.');
    await terminal.shows(PROMPT);
    terminal.type(KEY.ctrlD);
    expect(await exit).toBe(0);
    expect(terminal.text.includes('diagnostic event_after_done: ')).toBe(isTTY);
    expect(stderr.text.startsWith('diagnostic event_after_done: ')).toBe(!isTTY);
  });
});

describe('without a prompt', () => {
  it('a folder that is not there is misuse', async () => {
    const io = fakeIo({ cwd: freshFolder(), terminal: new FakeTerminal() });
    expect(await runCli(['--root', 'nope'], io)).toBe(2);
    expect(io.stderr.text).toContain('celestea: --root: the folder "');
    expect(io.stderr.text).toContain('/nope" does not exist');
  });

  it('a terminal that can do nothing gets help', async () => {
    const io = fakeIo({ terminal: new FakeTerminal(), env: { TERM: 'dumb' } });
    expect(await runCli([], io)).toBe(0);
    expect(io.stdout.text).toContain('Usage\n');
  });
});
