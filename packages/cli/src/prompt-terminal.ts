import { createInterface, type Interface, type Key } from 'node:readline';

import type { Terminal } from './io.ts';

/** What a {@link PromptTerminal} tells of. */
export interface PromptEvents {
  /** A line was typed, told how much of what was written the person saw while typing it. */
  readonly onLine: (line: string, seen: number) => void;
  /** Ctrl-C, told what of a line stands there. */
  readonly onInterrupt: (typed: string) => void;
  /** Ctrl-D, or the terminal is gone. */
  readonly onEnd: () => void;
}

/**
 * Who has the last line of the screen: the person at the prompt, a turn that writes, the
 * person who types into it, or nobody any more.
 */
type Mode = 'idle' | 'running' | 'typing' | 'closed';

const PROMPT = '› ';

/**
 * A terminal that a person types into while a turn writes to it. As long as an unfinished
 * line stands there, what the turn writes waits for it, so that the two never mix; without
 * one, the turn has the terminal to itself.
 */
export class PromptTerminal {
  readonly #terminal: Terminal;
  readonly #lines: Interface;
  #mode: Mode = 'running';
  /** What the turn wrote meanwhile. */
  #held = '';
  /** What readline wrote for the key it is at, while the turn has the terminal. */
  #echo = '';
  #atLineStart = true;
  #written = 0;
  /** How much of it is shown. */
  #seen = 0;
  /** The same, as it was when the last line was ended. */
  #seenByLine = 0;
  /** Whether a line of the turn was ended to make room for the typing. */
  #brokeLine = false;

  constructor(terminal: Terminal, events: PromptEvents) {
    this.#terminal = terminal;
    terminal.input.on('keypress', this.#beforeKey); // ahead of readline's own listener
    this.#lines = createInterface({
      input: terminal.input,
      output: withWrite(terminal.output, this.#echoed),
      terminal: true,
      prompt: PROMPT,
    });
    terminal.input.on('keypress', this.#afterKey);
    this.#lines.on('line', (line) => {
      events.onLine(line, this.#seenByLine);
    });
    this.#lines.on('SIGINT', () => {
      events.onInterrupt(this.#lines.line);
    });
    this.#lines.on('close', () => {
      if (this.#mode === 'closed') return;
      this.#release();
      this.#mode = 'closed';
      events.onEnd();
    });
  }

  /** Writes for a turn, now or as soon as no line stands in the way. */
  write(text: string): void {
    this.#written += 1;
    if (this.#mode === 'idle' || this.#mode === 'typing') {
      this.#held += text;
      return;
    }
    this.#seen = this.#written;
    this.#put(text);
  }

  /** How often something was written. */
  get written(): number {
    return this.#written;
  }

  /** The turn is over: the prompt is shown, with what was typed of a line. */
  showPrompt(): void {
    if (this.#mode === 'closed') return;
    const typed = this.#takeTyped();
    this.#release();
    this.#freshLine();
    this.#mode = 'idle';
    this.#lines.prompt();
    if (typed !== '') this.#lines.write(typed);
  }

  /** A turn begins. */
  hidePrompt(): void {
    if (this.#mode === 'idle') this.#mode = 'running';
    this.#release();
  }

  /** Drops what was typed and shows a fresh prompt. */
  clearLine(): void {
    this.#takeTyped();
    this.showPrompt();
  }

  /** Drops what was typed; the turn keeps the terminal. */
  dropLine(): void {
    this.#takeTyped();
    this.#release();
  }

  /** Lets go of the terminal. */
  close(): void {
    const { input } = this.#terminal;
    this.#release();
    this.#mode = 'closed';
    this.#lines.close();
    input.removeListener('keypress', this.#beforeKey);
    input.removeListener('keypress', this.#afterKey);
  }

  /** What readline writes: at once while the person has the line, else see {@link #afterKey}. */
  readonly #echoed = (text: string): void => {
    if (this.#mode === 'running') this.#echo += text;
    else this.#put(text);
  };

  readonly #beforeKey = (_text: string | undefined, key: Key): void => {
    this.#echo = '';
    if (key.name !== 'return' && key.name !== 'enter') return;
    this.#seenByLine = this.#seen;
    if (this.#mode !== 'typing') return;
    this.#eraseTyped(); // whoever gets the line says what became of it
    this.#mode = 'running';
    this.#release();
  };

  readonly #afterKey = (): void => {
    if (this.#mode === 'running' && this.#lines.line !== '') {
      const echo = this.#echo;
      const wasOpen = !this.#atLineStart;
      this.#freshLine();
      this.#brokeLine = wasOpen;
      this.#mode = 'typing';
      this.#put(PROMPT + echo);
    } else if (this.#mode === 'typing' && this.#lines.line === '') {
      this.#eraseTyped();
      this.#mode = 'running';
      this.#release();
    }
  };

  /** Takes an unfinished line off the screen and out of readline. */
  #takeTyped(): string {
    const typed = this.#lines.line;
    if (typed === '') return '';
    this.#eraseTyped();
    this.#mode = 'running'; // what readline writes about it is not wanted
    this.#lines.write(null, { ctrl: true, name: 'e' });
    this.#lines.write(null, { ctrl: true, name: 'u' });
    this.#echo = '';
    return typed;
  }

  #eraseTyped(): void {
    const { rows } = this.#lines.getCursorPos();
    const up = rows > 0 ? `\x1b[${String(rows)}A` : '';
    this.#terminal.output.write(`${up}\r\x1b[J`);
    this.#atLineStart = true;
  }

  #release(): void {
    const held = this.#held;
    this.#held = '';
    this.#seen = this.#written;
    if (held !== '') this.#put(held);
  }

  #freshLine(): void {
    if (!this.#atLineStart) this.#put('\n');
  }

  #put(text: string): void {
    if (text === '') return;
    // The writer cannot know that its line was ended, and may be about to do it itself.
    const own = this.#brokeLine && this.#mode === 'running';
    const rest = own && text.startsWith('\n') ? text.slice(1) : text;
    if (own) this.#brokeLine = false;
    // eslint-disable-next-line no-control-regex -- the codes of a look that ends behind it
    this.#atLineStart = /\n(?:\x1b\[\d+m)*$/.test(text);
    if (rest !== '') this.#terminal.output.write(rest);
  }
}

/** The same stream, its `write` replaced. */
function withWrite(
  output: NodeJS.WritableStream,
  write: (text: string) => void,
): NodeJS.WritableStream {
  return new Proxy(output, {
    get: (target, name): unknown => {
      if (name === 'write') {
        return (text: string): boolean => {
          write(text);
          return true;
        };
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
