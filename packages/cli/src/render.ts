import {
  outcomeError,
  outcomePhase,
  serdeJsonString,
  usageIsEmpty,
  type LoopEvent,
  type TurnOutcome,
  type TurnOutcomePhase,
} from '@celestea/core';

import type { Paint, Style } from './style.ts';
import { formatBytes, formatCount, formatDuration, safeLine, safeText } from './text.ts';
import { WaitingCalls, type TurnFigures } from './turn-meter.ts';

/** What a {@link TurnRenderer} writes to and with. */
export interface TurnRendererOptions {
  readonly write: (text: string) => unknown;
  readonly style: Style;
  readonly figures: TurnFigures;
}

/** What is told of the file that keeps a session. */
export interface SessionLabel {
  readonly file: string;
  /** What was found in it and repaired; `null` when it is new. */
  readonly found: string | null;
}

type EventOf<Kind extends LoopEvent['kind']> = Extract<LoopEvent, { kind: Kind }>;

/** What stands at the end of the output; another kind starts on a line of its own. */
type Block = 'nothing' | 'header' | 'thinking' | 'tools' | 'text' | 'note' | 'end';

interface Call {
  readonly number: number;
  readonly name: string;
  /** The arguments, bounded. */
  readonly args: string;
}

const LONGEST_NAME = 60;
const LONGEST_ARGS = 160;
const LONGEST_NOTE = 100;
const LONGEST_ERROR = 400;
const LONGEST_LINE = 400;

/**
 * Writes a turn for people to follow. Nothing that comes from a model or a tool reaches the
 * terminal as it is: see {@link safeText}.
 */
export class TurnRenderer {
  readonly #write: (text: string) => unknown;
  readonly #style: Style;
  readonly #figures: TurnFigures;
  #block: Block = 'nothing';
  #atLineStart = true;
  /** The first half of a character that came cut in two. */
  #halfCharacter = '';
  #saidText = false;
  #callCount = 0;
  #cancelReason: string | null = null;
  readonly #calls = new WaitingCalls<Call>();
  readonly #notRun = new Set<string>();

  constructor({ write, style, figures }: TurnRendererOptions) {
    this.#write = write;
    this.#style = style;
    this.#figures = figures;
  }

  /** Says who answers, on which folder, and where the session is kept. */
  header(model: string, root: string, session: SessionLabel | null = null): void {
    const parts = [safeLine(model, 80), safeLine(root, LONGEST_LINE)];
    if (session !== null) parts.push(safeLine(session.file, LONGEST_LINE));
    const lines = [parts.join(' · ')];
    const found = session?.found ?? null;
    if (found !== null) lines.push(safeLine(found, LONGEST_LINE));
    for (const line of lines) this.#line('header', this.#style.dim(line));
  }

  /** Writes a line beside the turn, dimmed. */
  note(text: string): void {
    this.#line('note', this.#style.dim(safeLine(text, LONGEST_LINE)));
  }

  /** Writes a line beside the turn, as it is: it has to be safe already. */
  notice(line: string): void {
    this.#line('note', line);
  }

  /** A call that is given up while it waits for approval has not started, whatever its result. */
  callNotRun(callId: string): void {
    this.#notRun.add(callId);
  }

  /** Ends a line that is open, because somebody else is about to write to the same screen. */
  freshLine(): void {
    if (!this.#atLineStart) this.#put('\n', true);
  }

  /** Says why the turn is cancelled, for its last line. */
  explainCancel(reason: string): void {
    this.#cancelReason = safeLine(reason, LONGEST_LINE);
  }

  /** Writes what one event adds. */
  render(event: LoopEvent): void {
    switch (event.kind) {
      case 'thinking':
        this.#prose('thinking', event.delta, this.#style.dim);
        return;
      case 'text':
        this.#text(event.delta);
        return;
      case 'tool_call':
        this.#toolCall(event);
        return;
      case 'tool_result':
        this.#toolResult(event);
        return;
      case 'done':
        if (!this.#saidText) this.#text(event.text); // a model that does not stream
        this.#saidText = false;
        return;
      case 'turn_end':
        this.#turnEnd(event.outcome);
        return;
      default:
        event satisfies never;
    }
  }

  #text(delta: string): void {
    if (delta !== '') this.#saidText = true;
    this.#prose('text', delta, (text) => text);
  }

  /** Each piece is painted by itself: whenever the process dies, no look stays switched on. */
  #prose(block: Block, delta: string, paint: Paint): void {
    if (delta === '') return;
    this.#open(block);
    const joined = this.#halfCharacter + delta;
    const whole = /[\ud800-\udbff]$/.test(joined) ? joined.slice(0, -1) : joined;
    this.#halfCharacter = joined.slice(whole.length);
    this.#put(paint(safeText(whole)), whole.endsWith('\n'));
  }

  #toolCall({ id, name, args }: EventOf<'tool_call'>): void {
    this.#callCount += 1;
    const shown = safeLine(serdeJsonString(args), LONGEST_ARGS);
    const number = this.#callCount;
    const call: Call = { number, name: safeLine(name, LONGEST_NAME), args: shown };
    this.#calls.add(id, call);
    const { bold, cyan, dim } = this.#style;
    this.#line('tools', `${cyan('→')} #${String(number)} ${bold(call.name)} ${dim(shown)}`);
  }

  #toolResult(event: EventOf<'tool_result'>): void {
    const { green, red, yellow, dim } = this.#style;
    const call = this.#calls.take(event.callId);
    const label = call === undefined ? '#? ' : `#${String(call.number)} ${call.name} `;
    const milliseconds = this.#figures.callMilliseconds(event.callId);
    const time = milliseconds === null ? '' : formatDuration(milliseconds);
    if (event.abandoned === true && this.#notRun.has(event.callId)) {
      this.#line('tools', `${yellow('!')} ${label}${yellow('not run')}: nobody had allowed it yet`);
      return;
    }
    if (event.abandoned === true) {
      const abandoned = yellow(time === '' ? 'abandoned' : `abandoned after ${time}`);
      const which = call === undefined ? label : `${label}${dim(call.args)} `;
      const fate = 'it had started; its outcome is not known';
      this.#line('tools', `${yellow('!')} ${which}${abandoned}: ${fate}`);
      return;
    }
    if (!event.ok) {
      const failed = time === '' ? 'not run' : `failed after ${time}`;
      const error = safeLine(event.error ?? '', LONGEST_ERROR);
      this.#line('tools', `${red('✗')} ${label}${red(failed)}: ${error}`);
      return;
    }
    const size = formatBytes(Buffer.byteLength(serdeJsonString(event.value)));
    const note = event.render === null ? '' : safeLine(event.render, LONGEST_NOTE);
    const parts = [note, size, time].filter((part) => part !== '');
    this.#line('tools', `${green('✓')} ${label}${dim(parts.join(' · '))}`);
  }

  #turnEnd(outcome: TurnOutcome): void {
    const { steps, usage, milliseconds } = this.#figures.totals();
    const [prompt, completion] = [String(usage.prompt_tokens), String(usage.completion_tokens)];
    const tokens = usageIsEmpty(usage)
      ? 'no tokens reported'
      : `tokens ${prompt} prompt, ${completion} completion`;
    const figures = [formatCount(steps, 'step'), tokens, formatDuration(milliseconds)];
    const phase = outcomePhase(outcome);
    const why = phase === 'interrupted' ? 'the model broke off' : this.#cancelReason;
    const isExplained = why !== null && (phase === 'interrupted' || phase === 'cancelled');
    const label = outcomeLabel(outcome, this.#style) + (isExplained ? `: ${why}` : '');
    this.#line('end', `${label}${this.#style.dim(` · ${figures.join(' · ')}`)}`);
  }

  #line(block: Block, line: string): void {
    this.#open(block);
    this.#put(`${line}\n`, true);
  }

  /** Answers stand apart, and so do the first line and the last. */
  #open(block: Block): void {
    const former = this.#block;
    if (former === block) return;
    this.#block = block;
    this.#halfCharacter = '';
    this.freshLine();
    const apart = former === 'header' || former === 'text' || block === 'text' || block === 'end';
    if (apart && former !== 'nothing') this.#put('\n', true);
  }

  #put(text: string, endsLine: boolean): void {
    if (text === '') return;
    this.#atLineStart = endsLine;
    this.#write(text);
  }
}

const OUTCOMES: Readonly<Record<TurnOutcomePhase, readonly [keyof Style, string]>> = {
  completed: ['green', 'completed'],
  cancelled: ['yellow', 'cancelled'],
  step_limit: ['yellow', 'stopped at the step limit'],
  interrupted: ['red', 'interrupted'],
  error: ['red', 'error'],
};

/** How a turn came out, in a few words. */
export function outcomeLabel(outcome: TurnOutcome, style: Style): string {
  const [colour, words] = OUTCOMES[outcomePhase(outcome)];
  const error = outcomeError(outcome);
  const label = style[colour](words);
  return error === null ? label : `${label} (${safeLine(error, LONGEST_ERROR)})`;
}
