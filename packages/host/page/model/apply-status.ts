import type {
  ApprovalDecision,
  HostStatus,
  Progress,
  TurnOver,
} from '../../src/events/host-event.ts';
import { beginStep, endSteps, noteSteered } from './steps.ts';
import { addNotice, addUser, changeTurn, endTurn } from './turn-items.ts';
import { announced, type Conversation, type EventAction, type TurnView } from './view.ts';
import { OUTCOME_WORDS } from './words.ts';

/** Where a status stands among the events. */
type Place = Pick<EventAction, 'turn' | 'seq' | 'now'>;

/** What is shown after the host told what it is doing. Phases that are not known are skipped. */
export function applyStatus(state: Conversation, status: HostStatus, place: Place): Conversation {
  switch (status.phase) {
    case 'start':
      return started(state, status.turn, status.input, place);
    case 'progress':
      return progressed(state, status);
    case 'steer':
      return { ...state, waiting: [...state.waiting, status.input] };
    case 'steered':
      return steered(state, status.inputs, place);
    case 'approval': {
      const approvals = state.approvals.filter(({ id }) => id !== status.id);
      const words = `${status.tool}: ${DECISION_WORDS[status.decision]}.`;
      return announced({ ...state, approvals }, words);
    }
    case 'diagnostic':
      if (place.turn === null) return state;
      return changeTurn(state, place.turn, (turn) => addNotice(turn, keyOf(place), status.message));
    case 'completed':
    case 'cancelled':
    case 'error':
    case 'step_limit':
    case 'interrupted':
      return ended(state, status, place);
    case 'lagged': // what is shown is opened anew
      return state;
    default:
      status satisfies never;
      return state; // of a host that is newer than this page
  }
}

const DECISION_WORDS: Readonly<Record<ApprovalDecision, string>> = {
  allow: 'allowed',
  deny: 'denied',
  withdrawn: 'no longer asked for',
};

const keyOf = ({ seq }: Place): string => `event-${String(seq)}`;

function started(state: Conversation, turn: string, input: string, place: Place): Conversation {
  const begun = changeTurn(state, turn, (view) =>
    beginStep(addUser(view, keyOf(place), input), place.now),
  );
  const running = { turn, startedMs: place.now, step: 1, deltasPerSecond: null };
  return announced({ ...begun, running, waiting: [] }, 'The agent is working.');
}

function progressed(state: Conversation, status: Progress): Conversation {
  const { context_tokens: used, window, total, steps: step, deltas_per_second } = status;
  const { running } = state;
  return {
    ...state,
    totalTokens: total,
    context: used > 0 ? { used, window } : state.context,
    running: running && { ...running, step, deltasPerSecond: deltas_per_second },
  };
}

/** The turn took lines: they stand in the conversation where it took them. */
function steered(state: Conversation, lines: readonly string[], place: Place): Conversation {
  const waiting = [...state.waiting];
  for (const line of lines) {
    const index = waiting.indexOf(line);
    if (index >= 0) waiting.splice(index, 1);
  }
  const next = { ...state, waiting };
  if (place.turn === null) return next;
  return changeTurn(next, place.turn, (turn) => {
    const told = lines.reduce(
      (all, line, index) => addUser(all, `${keyOf(place)}-${String(index)}`, line),
      turn,
    );
    return noteSteered(told, place.now);
  });
}

function ended(state: Conversation, status: TurnOver, place: Place): Conversation {
  const { turn: id, total = state.totalTokens, undelivered: lines = [] } = status;
  const isRunning = state.running?.turn === id;
  const isKnown = state.turns.some((turn) => turn.id === id);
  const next = isKnown ? changeTurn(state, id, (turn) => close(turn, status, place)) : state;
  const left = { number: next.undelivered.number + 1, value: { turn: id, lines } };
  const over: Conversation = {
    ...next,
    ...(isRunning ? { running: null, approvals: [], waiting: [] } : {}),
    totalTokens: total,
    undelivered: lines.length === 0 ? next.undelivered : left,
  };
  return isRunning ? announced(over, `Turn over: ${OUTCOME_WORDS[status.phase]}.`) : over;
}

/** The last status knows more than the event that ended the turn, and comes also without one. */
function close(turn: TurnView, status: TurnOver, place: Place): TurnView {
  const { phase: kind, reason = null, error = turn.end?.error ?? null } = status;
  const { steps = turn.stepCount, milliseconds = turn.milliseconds, usage = turn.tokens } = status;
  const known = turn.end === null ? endTurn(turn, keyOf(place), { kind, error, reason }) : turn;
  return {
    ...endSteps(known, kind === 'error', place.now),
    end: { kind: known.end?.kind ?? kind, error, reason },
    stepCount: steps,
    milliseconds,
    tokens: usage,
  };
}
