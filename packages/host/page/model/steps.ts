import type { Step, TurnView } from './view.ts';

/** A request goes out to the model. */
export function beginStep(turn: TurnView, now: number): TurnView {
  const step: Step = { startedMs: now, firstMs: null, repliedMs: null, calls: [], open: [] };
  return { ...turn, steps: [...turn.steps, step] };
}

/** A piece of the reply came. */
export function noteDelta(turn: TurnView, now: number): TurnView {
  const current = turn.steps.at(-1);
  if (current?.repliedMs === null && current.firstMs !== null) return turn;
  return changeLast(withOpenStep(turn, now), (step) => ({ ...step, firstMs: step.firstMs ?? now }));
}

/** The reply is complete and makes these calls. */
export function noteReply(turn: TurnView, calls: readonly string[], now: number): TurnView {
  return changeLast(withOpenStep(turn, now), (step) => ({ ...step, repliedMs: now, open: calls }));
}

/** A call is about to run. */
export function noteCall(turn: TurnView, id: string, name: string, now: number): TurnView {
  return changeLast(turn, (step) => {
    if (step.calls.some((call) => call.id === id)) return step;
    const call = { id, name, startedMs: now, endedMs: null, isOk: null };
    return { ...step, calls: [...step.calls, call] };
  });
}

/** A call is answered; after the last one of a step the next request goes out. */
export function noteResult(turn: TurnView, id: string, isOk: boolean, now: number): TurnView {
  const before = turn.steps.at(-1);
  if (before?.calls.some((call) => call.id === id) !== true) return turn;
  const open = before.open.filter((other) => other !== id);
  const after = changeLast(turn, (step) => ({
    ...step,
    open,
    calls: step.calls.map((call) =>
      call.id === id && call.endedMs === null ? { ...call, endedMs: now, isOk } : call,
    ),
  }));
  return open.length === 0 && before.open.length > 0 ? beginStep(after, now) : after;
}

/** A turn that had its answer goes on, since somebody said something more. */
export function noteSteered(turn: TurnView, now: number): TurnView {
  const current = turn.steps.at(-1);
  const isOver = typeof current?.repliedMs === 'number' && current.open.length === 0;
  return isOver ? beginStep(turn, now) : turn;
}

/** Nothing goes on; a request that nothing came of is no step, unless it is what failed. */
export function endSteps(turn: TurnView, isFailure: boolean, now: number): TurnView {
  const last = turn.steps.at(-1);
  if (last === undefined) return turn;
  const isIdle = last.firstMs === null && last.repliedMs === null && !isFailure;
  if (isIdle) return { ...turn, steps: turn.steps.slice(0, -1) };
  return changeLast(turn, (step) => ({
    ...step,
    repliedMs: step.repliedMs ?? now,
    calls: step.calls.map((call) => ({ ...call, endedMs: call.endedMs ?? now })),
    open: [],
  }));
}

/** The step that waits for the model; a reply without one shows that it began unnoticed. */
function withOpenStep(turn: TurnView, now: number): TurnView {
  const current = turn.steps.at(-1);
  return current?.repliedMs === null ? turn : beginStep(turn, now);
}

function changeLast(turn: TurnView, change: (step: Step) => Step): TurnView {
  const last = turn.steps.at(-1);
  return last === undefined ? turn : { ...turn, steps: turn.steps.with(-1, change(last)) };
}
