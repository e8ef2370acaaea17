import type { WireApproval } from '../../src/http/wire.ts';
import {
  isOutcomeKind,
  isPayload,
  numberOf,
  textOf,
  textOrNull,
  type Payload,
} from './read-payload.ts';
import { applyStatus } from './apply-status.ts';
import { noteCall, noteDelta, noteReply, noteResult } from './steps.ts';
import { addCall, addDelta, addNotice, addResult, endTurn, finishReply } from './turn-items.ts';
import { announced, changeTurn } from './turns.ts';
import type { Conversation } from './view.ts';
import { counted } from './words.ts';

/** An event of the stream, out of its envelope. */
export interface EventAction {
  readonly type: 'event';
  readonly name: string;
  readonly session: string;
  /** `null` between turns. */
  readonly turn: string | null;
  readonly seq: number;
  readonly payload: Payload;
  /** When it came, in milliseconds since 1970. */
  readonly now: number;
}

/** What is shown after an event. Names and fields that are not known are skipped. */
export function applyEvent(state: Conversation, event: EventAction): Conversation {
  if (event.seq <= state.lastSeq) return state;
  const next = { ...state, lastSeq: event.seq };
  if (event.name === 'status') return applyStatus(next, event);
  if (event.name === 'question') return addQuestion(next, event.payload);
  return event.turn === null ? next : applyToTurn(next, event, event.turn);
}

function applyToTurn(state: Conversation, event: EventAction, id: string): Conversation {
  const { payload, now } = event;
  const key = `event-${String(event.seq)}`;
  switch (event.name) {
    case 'text':
    case 'thinking': {
      const part = event.name === 'text' ? 'text' : 'reasoning';
      return changeTurn(state, id, (turn) =>
        noteDelta(addDelta(turn, part, textOf(payload, 'delta')), now),
      );
    }
    case 'done':
      return finish(state, id, key, event);
    case 'tool': {
      const call = {
        id: textOf(payload, 'id'),
        name: textOf(payload, 'name'),
        args: payload['args'],
      };
      return changeTurn(state, id, (turn) =>
        noteCall(addCall(turn, key, call, now), call.id, call.name, now),
      );
    }
    case 'tool_result':
      return answer(state, id, key, event);
    case 'turn_end':
      return end(state, id, key, payload);
    case 'compact': {
      const messages = counted(numberOf(payload, 'removed_messages') ?? 0, 'earlier message');
      const tokens = counted(numberOf(payload, 'removed_tokens') ?? 0, 'token');
      const text = `Left out to fit the window: ${messages}, about ${tokens}.`;
      return changeTurn(state, id, (turn) => addNotice(turn, key, text));
    }
    default:
      return state; // a reader skips what it does not know
  }
}

function finish(state: Conversation, id: string, key: string, event: EventAction): Conversation {
  const { payload, now } = event;
  const text = textOf(payload, 'text');
  const listed: unknown = payload['tool_calls'];
  const calls = Array.isArray(listed)
    ? listed.filter(isPayload).map((call) => textOf(call, 'id'))
    : [];
  const next = changeTurn(state, id, (turn) => noteReply(finishReply(turn, key, text), calls, now));
  return text === '' ? next : announced(next, spoken(text));
}

function answer(state: Conversation, id: string, key: string, event: EventAction): Conversation {
  const { payload, now } = event;
  const call = textOf(payload, 'id');
  const ok = payload['ok'] === true;
  const result = {
    ok,
    value: payload['value'],
    error: textOrNull(payload, 'error'),
    render: textOrNull(payload, 'render'),
    isDenied: payload['decision'] === 'deny',
    isAbandoned: payload['abandoned'] === true,
  };
  return changeTurn(state, id, (turn) =>
    noteResult(addResult(turn, key, call, result, now), call, ok, now),
  );
}

function end(state: Conversation, id: string, key: string, payload: Payload): Conversation {
  const outcome = textOf(payload, 'outcome');
  const kind = isOutcomeKind(outcome) ? outcome : 'interrupted';
  const error = textOrNull(payload, 'error');
  return changeTurn(state, id, (turn) => endTurn(turn, key, { kind, error, reason: null }));
}

function addQuestion(state: Conversation, payload: Payload): Conversation {
  const approval: WireApproval = {
    id: textOf(payload, 'id'),
    call_id: textOf(payload, 'call_id'),
    tool: textOf(payload, 'tool'),
    args: payload['args'],
    reason: textOf(payload, 'reason'),
    asked_ms: numberOf(payload, 'asked_ms') ?? 0,
  };
  const others = state.approvals.filter(({ id }) => id !== approval.id);
  const next = { ...state, approvals: [...others, approval] };
  return announced(next, `Approval needed: ${approval.tool}. ${approval.reason}`);
}

/** Long replies are there to be read; a voice is given their beginning. */
function spoken(text: string): string {
  const most = 600;
  return text.length <= most ? `Reply: ${text}` : `Reply: ${text.slice(0, most)} … and more.`;
}
