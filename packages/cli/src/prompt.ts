import { errorMessage } from '@celestea/agent-loop';
import type { TurnOutcome } from '@celestea/core';

import { answersIn, questionLines, type Asker } from './approvals.ts';
import { openConversation, type Conversation } from './conversation.ts';
import { complain, EXIT, type ExitCode } from './exit.ts';
import { PROMPT_HELP, PROMPT_HINT } from './help.ts';
import { interruptHandler } from './interrupt.ts';
import type { CliIo, CliParts, Output, Terminal } from './io.ts';
import type { Options } from './options.ts';
import { PromptTerminal } from './prompt-terminal.ts';
import { TurnRenderer } from './render.ts';
import { styleOf, type Style } from './style.ts';
import { safeLine } from './text.ts';
import { TurnMeter } from './turn-meter.ts';
import { linesView } from './turn-view.ts';

/**
 * Opens a prompt on the terminal and gives the exit code once the person leaves it: a
 * conversation of several turns over one session. A line that is typed while a turn runs
 * steers it.
 */
export async function runPrompt(
  options: Options,
  io: CliIo,
  terminal: Terminal,
  parts: CliParts,
): Promise<ExitCode> {
  const conversation = await openConversation(options, io, parts);
  try {
    return await new Promise<ExitCode>((resolve) => {
      new Prompt(conversation, io, terminal, resolve).open();
    });
  } finally {
    await conversation.close();
  }
}

/** The turn that runs, as the person at the prompt can reach it. */
interface RunningTurn {
  readonly renderer: TurnRenderer;
  /** Lines that the turn has not taken yet. */
  readonly steering: string[];
  readonly cancel: AbortController;
  /** Ctrl-C. */
  readonly interrupt: () => void;
}

const LONGEST_LINE = 400;

class Prompt {
  readonly #conversation: Conversation;
  readonly #io: CliIo;
  readonly #resolve: (code: ExitCode) => void;
  readonly #terminal: PromptTerminal;
  /** Everything is written through the terminal's prompt, save what goes to a file. */
  readonly #stdout: Output;
  readonly #stderr: Output;
  #turn: RunningTurn | null = null;
  /** How to leave as soon as no turn runs. */
  #leaving: ExitCode | null = null;
  /** What a turn that was left behind has to say is for nobody any more. */
  #hasLeft = false;
  /** How much had been written when the open question stood there. */
  #askedAt = 0;

  constructor(
    conversation: Conversation,
    io: CliIo,
    terminal: Terminal,
    resolve: (code: ExitCode) => void,
  ) {
    this.#conversation = conversation;
    this.#io = io;
    this.#resolve = resolve;
    const prompt = new PromptTerminal(terminal, {
      onLine: this.#onLine,
      onInterrupt: this.#onInterrupt,
      onEnd: () => {
        this.#leave(EXIT.completed);
      },
    });
    this.#terminal = prompt;
    this.#stdout = {
      write: (text) => {
        prompt.write(text);
      },
      isTTY: true,
    };
    this.#stderr = io.stderr.isTTY === true ? this.#stdout : io.stderr;
  }

  open(): void {
    const { signal } = this.#io;
    const { model, root, session } = this.#conversation;
    const renderer = this.#rendererOf(new TurnMeter(this.#io.now));
    renderer.header(model.name, root, session.label);
    renderer.note(PROMPT_HINT);
    if (signal.aborted) {
      this.#onSignal();
      return;
    }
    signal.addEventListener('abort', this.#onSignal);
    this.#showPrompt();
  }

  readonly #onSignal = (): void => {
    this.#leave(EXIT.cancelled);
  };

  readonly #onLine = (line: string, seen: number): void => {
    const text = line.trim();
    const command = /^\/[\w-]*$/.exec(text)?.[0];
    const { approvals } = this.#conversation;
    if (command !== undefined) this.#command(command);
    else if (approvals.isOpen && seen >= this.#askedAt) approvals.answer(text);
    else if (text !== '' && this.#turn !== null) this.#steer(this.#turn, text);
    else if (text !== '') void this.#converse(text);
    else if (this.#turn === null) this.#terminal.showPrompt();
  };

  /** A half-typed line is what Ctrl-C takes first, as in a shell. */
  readonly #onInterrupt = (typed: string): void => {
    if (this.#turn !== null) this.#turn.interrupt();
    else if (typed !== '') this.#terminal.clearLine();
    else this.#leave(EXIT.completed);
  };

  #command(command: string): void {
    if (command === '/quit') {
      this.#leave(EXIT.completed);
      return;
    }
    const unknown = `unknown command ${safeLine(command, LONGEST_LINE)}; /help lists them\n`;
    if (this.#turn === null) this.#terminal.hidePrompt();
    else this.#turn.renderer.freshLine();
    this.#stdout.write(command === '/help' ? PROMPT_HELP : unknown);
    if (this.#turn === null) this.#showPrompt();
  }

  #steer({ renderer, steering }: RunningTurn, text: string): void {
    steering.push(text);
    renderer.note(`steering: ${text}`);
  }

  /** Runs turns until nothing is left to say; never rejects. */
  async #converse(first: string): Promise<void> {
    this.#terminal.hidePrompt();
    let input: string | null = first;
    while (input !== null && this.#leaving === null) input = await this.#oneTurn(input);
    if (this.#leaving === null) this.#showPrompt();
    else this.#left(this.#leaving);
  }

  /** Gives the input of the next turn: the lines that came too late to steer this one. */
  async #oneTurn(input: string): Promise<string | null> {
    const meter = new TurnMeter(this.#io.now);
    const renderer = this.#rendererOf(meter);
    const steering: string[] = [];
    const cancel = new AbortController();
    const interrupt = interruptHandler({
      cancel: () => {
        cancel.abort();
      },
      forceExit: () => {
        this.#left(EXIT.cancelled);
      },
      now: this.#io.now,
    });
    this.#turn = { renderer, steering, cancel, interrupt };
    this.#conversation.approvals.askThrough(this.#askerOf(renderer));
    const io = { stdout: this.#stdout, stderr: this.#stderr, env: this.#io.env };
    const view = linesView(io, renderer);
    const source = {
      drain: () => steering.splice(0).map((text) => ({ text, from: '' })),
      pending: () => steering.length,
    };
    let outcome: TurnOutcome | null = null;
    try {
      outcome = await this.#conversation.ask(input, { view, meter, cancel, steering: source });
    } catch (error) {
      if (this.#hasLeft) return null; // its session was closed under it
      renderer.freshLine();
      complain(this.#stderr, errorMessage(error)); // a broken seam; the next turn may do
    }
    this.#turn = null;
    const late = steering.splice(0);
    const goesOn = outcome === 'completed' || outcome === 'step_limit';
    if (late.length > 0 && goesOn && this.#leaving === null) return late.join('\n');
    for (const text of late) renderer.note(`not sent, the turn was over: ${text}`);
    return null;
  }

  #leave(code: ExitCode): void {
    this.#leaving ??= code;
    if (this.#turn === null) this.#left(this.#leaving);
    else this.#turn.cancel.abort();
  }

  /** What is still running is left behind. */
  #left(code: ExitCode): void {
    this.#hasLeft = true;
    this.#conversation.approvals.askThrough(null);
    this.#io.signal.removeEventListener('abort', this.#onSignal);
    this.#terminal.close();
    this.#resolve(code);
  }

  #showPrompt(): void {
    this.#stdout.write('\n');
    this.#terminal.showPrompt();
  }

  /** A line that was begun before the question stood there is no answer to it: it steers. */
  #askerOf(renderer: TurnRenderer): Asker {
    return {
      ...answersIn(renderer),
      ask: (request) => {
        for (const line of questionLines(request, this.#style())) renderer.notice(line);
        this.#askedAt = this.#terminal.written;
      },
    };
  }

  #style(): Style {
    return styleOf({ stdout: this.#stdout, env: this.#io.env });
  }

  #rendererOf(figures: TurnMeter): TurnRenderer {
    return new TurnRenderer({
      write: (text) => this.#stdout.write(text),
      style: this.#style(),
      figures,
    });
  }
}
