import type { Step, StepCall } from './view.ts';
import { durationWords } from './words.ts';

/** What a bar stands for. */
type BarKind = 'wait' | 'reply' | 'call' | 'failed_call';

/** A bar of a lane: where it begins and how long it is, as parts of the whole time. */
export interface Bar {
  readonly kind: BarKind;
  readonly start: number;
  readonly width: number;
  /** What it says in words, with its times. */
  readonly text: string;
}

/** A line of the timeline: the model's part of a step, or one of its calls. */
export interface Lane {
  readonly label: string;
  readonly isStep: boolean;
  readonly bars: readonly Bar[];
}

/** The steps of a turn as lanes under each other, so that calls at the same time stand together. */
export function timelineLanes(steps: readonly Step[], firstStep: number, nowMs: number): Lane[] {
  const start = steps[0]?.startedMs ?? nowMs;
  const end = Math.max(start + 1, ...steps.map((step) => endOf(step, nowMs)));
  const span = { start, total: end - start, now: nowMs };
  return steps.flatMap((step, index) => stepLanes(step, firstStep + index, span));
}

interface Span {
  readonly start: number;
  readonly total: number;
  readonly now: number;
}

function endOf({ repliedMs, calls }: Step, nowMs: number): number {
  return Math.max(repliedMs ?? nowMs, ...calls.map(({ endedMs }) => endedMs ?? nowMs));
}

function stepLanes(step: Step, number: number, span: Span): Lane[] {
  const { startedMs, firstMs, repliedMs } = step;
  const replied = repliedMs ?? span.now;
  const first = firstMs ?? replied;
  const name = `Step ${String(number)}`;
  const bars = [
    bar('wait', `${name}: waited for the model`, startedMs, first, span),
    bar('reply', `${name}: the model replied`, first, replied, span),
  ];
  const model = { label: name, isStep: true, bars: bars.filter(({ width }) => width > 0) };
  return [model, ...step.calls.map((call) => callLane(call, name, span))];
}

function callLane({ name, startedMs, endedMs, isOk }: StepCall, step: string, span: Span): Lane {
  const state = isOk === false ? ' failed' : endedMs === null ? ' is running' : ' ran';
  const kind = isOk === false ? 'failed_call' : 'call';
  const drawn = bar(kind, `${step}: ${name}${state}`, startedMs, endedMs ?? span.now, span);
  return { label: name, isStep: false, bars: [drawn] };
}

function bar(kind: BarKind, what: string, fromMs: number, toMs: number, span: Span): Bar {
  const length = Math.max(0, toMs - fromMs);
  const from = Math.max(0, fromMs - span.start);
  return {
    kind,
    start: from / span.total,
    width: length / span.total,
    text: `${what}, ${durationWords(length)}, from ${durationWords(from)}`,
  };
}
