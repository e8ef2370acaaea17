import { describe, expect, it, onTestFinished } from 'vitest';

import { PromptTerminal } from '../src/prompt-terminal.ts';
import { FakeTerminal, KEY } from './support/terminal.ts';

function opened(columns?: number) {
  const fake = new FakeTerminal(columns);
  const told: string[] = [];
  const prompt = new PromptTerminal(fake, {
    onLine: (line) => told.push(`line ${line}`),
    onInterrupt: (typed) => told.push(`interrupt ${typed}`),
    onEnd: () => told.push('end'),
  });
  onTestFinished(() => {
    prompt.close();
  });
  return { fake, told, prompt };
}

/** The screen as a person sees it: rows of text, the codes that move and clear obeyed. */
function screen({ raw }: FakeTerminal, columns = 80): string[] {
  const rows = [''];
  let [row, column] = [0, 0];
  const put = (letter: string): void => {
    if (column >= columns) [row, column] = [row + 1, 0];
    while (rows.length <= row) rows.push('');
    const line = (rows[row] ?? '').padEnd(column);
    rows[row] = line.slice(0, column) + letter + line.slice(column + 1);
    column += 1;
  };
  // eslint-disable-next-line no-control-regex -- the codes are what it is about
  for (const [piece, count, code] of raw.matchAll(/\x1b\[([0-9;]*)([A-Za-z])|[^]/g)) {
    const number = Number(count === undefined || count === '' ? 1 : count);
    if (piece === '\n') [row, column] = [row + 1, 0];
    else if (piece === '\r') column = 0;
    else if (code === 'A') row -= number;
    else if (code === 'B') row += number;
    else if (code === 'C') column += number;
    else if (code === 'D') column -= number;
    else if (code === 'G') column = number - 1;
    else if (code === 'J') {
      rows[row] = (rows[row] ?? '').slice(0, column);
      rows.length = row + 1;
    } else if (code === undefined) put(piece);
  }
  const shown = rows.map((line) => line.trimEnd());
  while (shown.at(-1) === '') shown.pop();
  return shown;
}

describe('while a turn runs', () => {
  it('shows what the turn writes at once', () => {
    const { fake, prompt } = opened();
    prompt.write('half');
    prompt.write(' a line');
    expect(fake.raw).toBe('half a line');
  });

  it('holds it back as long as a line is being typed, and no longer', () => {
    const { fake, told, prompt } = opened();
    prompt.write('The ans');
    fake.type('g', 'o');
    prompt.write('wer.\n');
    expect(screen(fake)).toEqual(['The ans', '› go']);
    fake.type(KEY.enter);
    expect(told).toEqual(['line go']);
    expect(screen(fake)).toEqual(['The ans', 'wer.']);
  });

  it('lets it go on when what was typed is taken back', () => {
    const { fake, prompt } = opened();
    fake.type('a', 'b');
    prompt.write('More.\n');
    fake.type(KEY.backspace);
    expect(screen(fake)).toEqual(['› a']);
    fake.type(KEY.backspace);
    expect(screen(fake)).toEqual(['More.']);
  });

  it('does nothing for an empty line, and for keys that change nothing', () => {
    const { fake, told, prompt } = opened();
    prompt.write('The ans');
    fake.type(KEY.enter, KEY.backspace, KEY.ctrlU, KEY.enter);
    prompt.write('wer.\n');
    expect(screen(fake)).toEqual(['The answer.']);
    expect(told).toEqual(['line ', 'line ']);
  });

  it('clears a line that has wrapped, when it is sent', () => {
    const { fake, told, prompt } = opened(10);
    prompt.write('Words\n');
    const typed = 'a long line that wraps over';
    fake.type(...Array.from(typed), KEY.enter);
    prompt.write('More.\n');
    expect(screen(fake, 10)).toEqual(['Words', 'More.']);
    expect(told).toEqual([`line ${typed}`]);
  });

  it('takes several lines that arrive at once one by one', () => {
    const { fake, told } = opened();
    fake.type('one\rtwo\rthr');
    expect(told).toEqual(['line one', 'line two']);
    expect(screen(fake)).toEqual(['› thr']);
  });

  it('brings a line of the history back', () => {
    const { fake, prompt } = opened();
    fake.type('first', KEY.enter);
    prompt.write('Words');
    fake.type(KEY.up);
    expect(screen(fake)).toEqual(['Words', '› first']);
  });

  it('ends no line twice when the writer ends it as well', () => {
    const { fake, prompt } = opened();
    prompt.write('The ans');
    fake.type('go', KEY.enter);
    prompt.write('\n');
    prompt.write('A note.\n');
    expect(screen(fake)).toEqual(['The ans', 'A note.']);
  });
});

describe('the prompt', () => {
  it('comes on a line of its own and is edited there', () => {
    const { fake, told, prompt } = opened();
    prompt.write('Words');
    prompt.showPrompt();
    fake.type('ax', KEY.backspace, 'b', KEY.enter);
    expect(told).toEqual(['line ab']);
    expect(screen(fake)).toEqual(['Words', '› ab']);
  });

  it('keeps what was typed while the turn ended, wrapped or not', () => {
    for (const typed of ['next', 'a long line that wraps']) {
      const { fake, told, prompt } = opened(10);
      prompt.write('The ans');
      fake.type(...Array.from(typed));
      prompt.write('wer.\n');
      prompt.showPrompt();
      const shown = screen(fake, 10);
      expect(shown.slice(0, 2)).toEqual(['The ans', 'wer.']);
      // a blank that falls on the edge is not to be seen
      expect(shown.slice(2).join('').replaceAll(' ', '')).toBe(`›${typed}`.replaceAll(' ', ''));
      fake.type(KEY.enter);
      expect(told).toEqual([`line ${typed}`]);
    }
  });

  it('drops a line that is not wanted', () => {
    const { fake, told, prompt } = opened();
    prompt.showPrompt();
    fake.type('nonsense', KEY.ctrlC);
    expect(told).toEqual(['interrupt nonsense']);
    prompt.clearLine();
    expect(screen(fake)).toEqual(['›']);
  });

  it('holds back what is written to it until a turn begins', () => {
    const { fake, prompt } = opened();
    prompt.showPrompt();
    prompt.write('Late.\n');
    expect(screen(fake)).toEqual(['›']);
    fake.type('go', KEY.enter);
    prompt.hidePrompt();
    expect(screen(fake)).toEqual(['› go', 'Late.']);
  });
});

describe('the end', () => {
  it('is told once, of Ctrl-D, and what was held back is shown', () => {
    const { fake, told, prompt } = opened();
    fake.type('x');
    prompt.write('Held.\n');
    fake.type(KEY.backspace, KEY.ctrlD);
    expect(told).toEqual(['end']);
    prompt.write('After.\n');
    prompt.showPrompt();
    prompt.hidePrompt();
    prompt.close();
    expect(screen(fake)).toEqual(['Held.', 'After.']);
    expect(told).toEqual(['end']);
  });

  it('is told when the terminal goes away', async () => {
    const { fake, told } = opened();
    fake.input.end();
    await new Promise((resolve) => fake.input.once('close', resolve));
    expect(told).toEqual(['end']);
  });

  it('leaves no listener of its own on the input', () => {
    const { fake, prompt } = opened();
    prompt.close();
    expect(fake.input.listenerCount('keypress')).toBe(0);
  });
});

it('tells how much of what was written stood there when a line was begun', () => {
  const fake = new FakeTerminal();
  const told: [string, boolean][] = [];
  let asked = 0;
  const prompt = new PromptTerminal(fake, {
    onLine: (line, seen) => told.push([line, seen >= asked]),
    onInterrupt: () => undefined,
    onEnd: () => undefined,
  });
  onTestFinished(() => {
    prompt.close();
  });
  const ask = (): void => {
    prompt.write('?\n');
    asked = prompt.written;
  };
  fake.type('before');
  ask();
  fake.type(KEY.enter, 'after', KEY.enter, KEY.enter);
  fake.type('x');
  ask();
  fake.type(KEY.backspace, 'anew', KEY.enter);
  fake.type('half');
  ask();
  prompt.dropLine();
  fake.type('whole', KEY.enter);
  expect(told).toEqual([
    ['before', false],
    ['after', true],
    ['', true],
    ['anew', true],
    ['whole', true],
  ]);
});
