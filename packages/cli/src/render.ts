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
  /** `null` for a turn of which nobody knows how long anything took, such as one of a log. */
  readonly figures: TurnFigures | null;
}

/** What is told of the file that keeps a session. */
export interface SessionLabel {
  readonly file: string;
  /** What was found in it and repaired; `null` when it is new. */
  readonly found: string | null;
}

type EventOf<Kind extends LoopEvent['kind']> = Extract<LoopEvent, { kind: Kind }>;

/** What stands at the end of the output; another kind starts on a line of its own. */
type Block =
  'nothing' | 'header' | 'turn' | 'user' | 'thinking' | 'tools' | 'text' | 'note' | 'end';

/** What a blank line stands before, and behind. */
const BEGINS_APART: readonly Block[] = ['turn', 'text', 'end'];
const ENDS_APART: readonly Block[] = ['header', 'user', 'text', 'end'];

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
  readonly #figures: TurnFigures | null;
  #block: Block = 'nothing';
  #atLineStart = true;
  /** The first half of a character that came cut in two. */
  #halfCharacter = '';
  #saidText = false;
  #callCount = 0;
  #cancelReason: string | null = null;
  #calls = new WaitingCalls<Call>();
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

  /** Begins a turn under a heading; its calls are counted anew. */
  beginTurn(heading: string): void {
    this.#callCount = 0;
    this.#calls = new WaitingCalls();
    this.#line('turn', this.#style.bold(heading));
  }

  /** Writes a line beside the turn, dimmed. */
  note(text: string): void {
    this.#line('note', this.#style.dim(safeLine(text, LONGEST_LINE)));
  }

  /** Writes a line beside the turn, of a person, or at the end: it has to be safe already. */
  notice(line: string, block: 'note' | 'user' | 'end' = 'note'): void {
    this.#line(block, line);
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

  /** Writes what one event adds; `indent` stands before the line of a call. */
  render(event: LoopEvent, indent = ''): void {
    switch (event.kind) {
      case 'thinking':
        this.#prose('thinking', event.delta, this.#style.dim);
        return;
      case 'text':
        this.#text(event.delta);
        return;
      case 'tool_call':
        this.#toolCall(event, indent);
        return;
      case 'tool_result':
        this.#toolResult(event, indent);
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

  #toolCall({ id, name, args }: EventOf<'tool_call'>, indent: string): void {
    this.#callCount += 1;
    const shown = safeLine(serdeJsonString(args), LONGEST_ARGS);
    const number = this.#callCount;
    const call: Call = { number, name: safeLine(name, LONGEST_NAME), args: shown };
    this.#calls.add(id, call);
    const { bold, cyan, dim } = this.#style;
    const line = `${cyan('→')} #${String(number)} ${bold(call.name)} ${dim(shown)}`;
    this.#line('tools', indent + line);
  }

  #toolResult(event: EventOf<'tool_result'>, indent: string): void {
    const call = this.#calls.take(event.callId);
    const label = call === undefined ? '#? ' : `#${String(call.number)} ${call.name} `;
    this.#line('tools', indent + this.#result(event, label, call?.args));
  }

  #result(event: EventOf<'tool_result'>, label: string, args: string | undefined): string {
    const { green, red, yellow, dim } = this.#style;
    const milliseconds = this.#figures?.callMilliseconds(event.callId) ?? null;
    const time = milliseconds === null ? '' : formatDuration(milliseconds);
    const after = time === '' ? '' : ` after ${time}`;
    if (event.abandoned === true && this.#notRun.has(event.callId)) {
      return `${yellow('!')} ${label}${yellow('not run')}: nobody had allowed it yet`;
    }
    if (event.abandoned === true) {
      const which = args === undefined ? label : `${label}${dim(args)} `;
      const fate = 'it had started; its outcome is not known';
      return `${yellow('!')} ${which}${yellow(`abandoned${after}`)}: ${fate}`;
    }
    if (!event.ok) {
      const how = time === '' && this.#figures !== null ? 'not run' : `failed${after}`;
      return `${red('✗')} ${label}${red(how)}: ${safeLine(event.error ?? '', LONGEST_ERROR)}`;
    }
    const size = formatBytes(Buffer.byteLength(serdeJsonString(event.value)));
    const note = event.render === null ? '' : safeLine(event.render, LONGEST_NOTE);
    const parts = [note, size, time].filter((part) => part !== '');
    return `${green('✓')} ${label}${dim(parts.join(' · '))}`;
  }

  #turnEnd(outcome: TurnOutcome): void {
    const phase = outcomePhase(outcome);
    const why = phase === 'interrupted' ? 'the model broke off' : this.#cancelReason;
    const isExplained = why !== null && (phase === 'interrupted' || phase === 'cancelled');
    const label = outcomeLabel(outcome, this.#style) + (isExplained ? `: ${why}` : '');
    const figures = this.#figures === null ? '' : ` · ${figuresLine(this.#figures)}`;
    this.#line('end', label + this.#style.dim(figures));
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
    const isApart = BEGINS_APART.includes(block) || ENDS_APART.includes(former);
    if (isApart && former !== 'nothing') this.#put('\n', true);
  }

  #put(text: string, endsLine: boolean): void {
    if (text === '') return;
    this.#atLineStart = endsLine;
    this.#write(text);
  }
}

function figuresLine(figures: TurnFigures): string {
  const { steps, usage, milliseconds } = figures.totals();
  const [prompt, completion] = [String(usage.prompt_tokens), String(usage.completion_tokens)];
  const tokens = usageIsEmpty(usage)
    ? 'no tokens reported'
    : `tokens ${prompt} prompt, ${completion} completion`;
  return [formatCount(steps, 'step'), tokens, formatDuration(milliseconds)].join(' · ');
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
