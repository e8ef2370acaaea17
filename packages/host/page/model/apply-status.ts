import type { EventAction } from './apply-event.ts';
import { OUTCOME_WORDS } from './outcome-words.ts';
import {
  isOutcomeKind,
  numberOf,
  textOf,
  textOrNull,
  textsOf,
  tokensOf,
  type Payload,
} from './read-payload.ts';
import { beginStep, endSteps, noteSteered } from './steps.ts';
import { addNotice, addUser, endTurn } from './turn-items.ts';
import { announced, changeTurn } from './turns.ts';
import type { Conversation, OutcomeKind, TurnView } from './view.ts';

/** What is shown after the host told what it is doing. Phases that are not known are skipped. */
export function applyStatus(state: Conversation, event: EventAction): Conversation {
  const { payload } = event;
  const phase = textOf(payload, 'phase');
  switch (phase) {
    case 'start':
      return started(state, event);
    case 'progress':
      return progressed(state, event);
    case 'steer':
      return { ...state, waiting: [...state.waiting, textOf(payload, 'text')] };
    case 'steered':
      return steered(state, event);
    case 'approval':
      return settled(state, payload);
    case 'diagnostic':
      return noticed(state, event);
    default:
      return isOutcomeKind(phase) ? ended(state, event, phase) : state;
  }
}

function started(state: Conversation, { payload, seq, now }: EventAction): Conversation {
  const turn = textOf(payload, 'turn');
  const input = textOf(payload, 'input');
  const begun = changeTurn(state, turn, (view) =>
    beginStep(addUser(view, `event-${String(seq)}`, input), now),
  );
  const running = { turn, startedMs: now, step: 1, deltasPerSecond: null };
  return announced({ ...begun, running, waiting: [] }, 'The agent is working.');
}

function progressed(state: Conversation, { payload }: EventAction): Conversation {
  const used = numberOf(payload, 'context_tokens') ?? 0;
  const window = numberOf(payload, 'window') ?? 0;
  const { running } = state;
  return {
    ...state,
    totalTokens: tokensOf(payload, 'total') ?? state.totalTokens,
    context: used > 0 ? { used, window } : state.context,
    running:
      running === null
        ? null
        : {
            ...running,
            step: numberOf(payload, 'steps') ?? running.step,
            deltasPerSecond: numberOf(payload, 'deltas_per_second'),
          },
  };
}

/** The turn took lines: they stand in the conversation where it took them. */
function steered(state: Conversation, { payload, turn, seq, now }: EventAction): Conversation {
  const texts = textsOf(payload, 'texts');
  const waiting = [...state.waiting];
  for (const text of texts) {
    const index = waiting.indexOf(text);
    if (index >= 0) waiting.splice(index, 1);
  }
  const next = { ...state, waiting };
  if (turn === null) return next;
  return changeTurn(next, turn, (view) => {
    const told = texts.reduce(
      (all, text, index) => addUser(all, `event-${String(seq)}-${String(index)}`, text),
      view,
    );
    return noteSteered(told, now);
  });
}

function settled(state: Conversation, payload: Payload): Conversation {
  const id = textOf(payload, 'id');
  const approvals = state.approvals.filter((approval) => approval.id !== id);
  const words: Record<string, string> = {
    allow: 'allowed',
    deny: 'denied',
    withdrawn: 'no longer asked for',
  };
  const word = words[textOf(payload, 'decision')] ?? 'answered';
  return announced({ ...state, approvals }, `${textOf(payload, 'tool')}: ${word}.`);
}

function noticed(state: Conversation, { payload, turn, seq }: EventAction): Conversation {
  if (turn === null) return state;
  const text = textOf(payload, 'message');
  return changeTurn(state, turn, (view) => addNotice(view, `event-${String(seq)}`, text));
}

function ended(state: Conversation, event: EventAction, kind: OutcomeKind): Conversation {
  const { payload } = event;
  const id = textOf(payload, 'turn');
  const turn = state.turns.find((view) => view.id === id);
  const isRunning = state.running?.turn === id;
  const undelivered = textsOf(payload, 'undelivered');
  const next =
    turn === undefined ? state : changeTurn(state, id, (view) => close(view, event, kind));
  const over: Conversation = {
    ...next,
    running: isRunning ? null : next.running,
    approvals: isRunning ? [] : next.approvals,
    waiting: isRunning ? [] : next.waiting,
    totalTokens: tokensOf(payload, 'total') ?? next.totalTokens,
    undelivered:
      undelivered.length === 0
        ? next.undelivered
        : { number: next.undelivered.number + 1, value: { turn: id, lines: undelivered } },
  };
  return isRunning ? announced(over, `Turn over: ${OUTCOME_WORDS[kind]}.`) : over;
}

/** The last status knows more than the event that ended the turn, and comes also without one. */
function close(turn: TurnView, { payload, seq, now }: EventAction, kind: OutcomeKind): TurnView {
  const error = textOrNull(payload, 'error') ?? turn.end?.error ?? null;
  const reason = textOrNull(payload, 'reason');
  const known =
    turn.end === null ? endTurn(turn, `event-${String(seq)}`, { kind, error, reason }) : turn;
  const closed = endSteps(known, kind === 'error', now);
  return {
    ...closed,
    end: { kind: known.end?.kind ?? kind, error, reason },
    stepCount: numberOf(payload, 'steps') ?? turn.stepCount,
    milliseconds: numberOf(payload, 'milliseconds') ?? turn.milliseconds,
    tokens: tokensOf(payload, 'usage') ?? turn.tokens,
  };
}
