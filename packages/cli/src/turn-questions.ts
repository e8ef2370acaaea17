import { answersIn, questionLines, type Approvals, type Asker } from './approvals.ts';
import type { Output, Terminal } from './io.ts';
import { PromptTerminal } from './prompt-terminal.ts';
import type { TurnRenderer } from './render.ts';
import type { Style } from './style.ts';

/** What {@link TurnQuestions} works with. */
export interface TurnQuestionParts {
  readonly approvals: Approvals;
  readonly terminal: Terminal;
  /** Where the turn is shown while no question is open. */
  readonly stdout: Output;
  readonly style: Style;
  /** Cancels the turn: Ctrl-C while a question is open. */
  readonly cancel: AbortController;
}

/** What was typed ahead has come by then; it is no answer to what nobody had seen. */
const TYPED_AHEAD_MS = 50;

/** Asks on the terminal of a single turn, which reads it only while a question is open. */
export class TurnQuestions implements Output {
  readonly isTTY = true;
  readonly #parts: TurnQuestionParts;
  #open: PromptTerminal | null = null;
  /** How much had been written when the question stood there. */
  #askedAt = Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: TurnQuestionParts) {
    this.#parts = parts;
  }

  /** Writes for the turn, around what a person types. */
  write(text: string): void {
    if (this.#open === null) this.#parts.stdout.write(text);
    else this.#open.write(text);
  }

  /** Who asks, and shows it by the renderer of the turn. */
  askerOf(renderer: TurnRenderer): Asker {
    const answers = answersIn(renderer);
    return {
      ...answers,
      ask: (request) => {
        renderer.freshLine();
        const terminal = this.#listen();
        this.#timer = setTimeout(() => {
          if (this.#open !== terminal) return;
          terminal.dropLine();
          for (const line of questionLines(request, this.#parts.style)) renderer.notice(line);
          this.#askedAt = terminal.written;
        }, TYPED_AHEAD_MS);
      },
      decided: (request, said) => {
        this.close();
        answers.decided(request, said);
      },
    };
  }

  /** Lets go of the terminal. */
  close(): void {
    clearTimeout(this.#timer);
    this.#askedAt = Infinity;
    const terminal = this.#open;
    this.#open = null;
    terminal?.dropLine();
    terminal?.close();
  }

  #listen(): PromptTerminal {
    this.close();
    const { terminal, approvals, cancel } = this.#parts;
    const abort = (): void => {
      cancel.abort();
    };
    const open = new PromptTerminal(terminal, {
      onLine: (line, seen) => {
        if (seen >= this.#askedAt) approvals.answer(line);
      },
      onInterrupt: abort,
      onEnd: abort,
    });
    this.#open = open;
    return open;
  }
}
