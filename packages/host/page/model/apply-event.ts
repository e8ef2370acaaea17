import { applyStatus } from './apply-status.ts';
import { noteCall, noteDelta, noteReply, noteResult } from './steps.ts';
import {
  addCall,
  addDelta,
  addNotice,
  addResult,
  changeTurn,
  endTurn,
  finishReply,
} from './turn-items.ts';
import { announced, type Conversation, type EventAction } from './view.ts';
import { counted } from './words.ts';

/** What is shown after an event. Names and fields that are not known are skipped. */
export function applyEvent(before: Conversation, event: EventAction): Conversation {
  if (event.seq <= before.lastSeq) return before;
  const state = { ...before, lastSeq: event.seq };
  switch (event.name) {
    case 'status':
      return applyStatus(state, event.payload, event);
    case 'question': {
      const { id, tool, reason } = event.payload;
      const others = state.approvals.filter((approval) => approval.id !== id);
      const next = { ...state, approvals: [...others, event.payload] };
      return announced(next, `Approval needed: ${tool}. ${reason}`);
    }
    default:
      return event.turn === null ? state : applyToTurn(state, event, event.turn);
  }
}

type TurnEvent = Exclude<EventAction, { readonly name: 'status' | 'question' }>;

function applyToTurn(state: Conversation, event: TurnEvent, id: string): Conversation {
  const { now } = event;
  const key = `event-${String(event.seq)}`;
  switch (event.name) {
    case 'text':
    case 'thinking': {
      const { delta } = event.payload;
      return changeTurn(state, id, (turn) => noteDelta(addDelta(turn, event.name, delta), now));
    }
    case 'done': {
      const { text, tool_calls } = event.payload;
      const calls = tool_calls.map((call) => call.id);
      const next = changeTurn(state, id, (turn) =>
        noteReply(finishReply(turn, key, text), calls, now),
      );
      return text === '' ? next : announced(next, spoken(text));
    }
    case 'tool': {
      const call = event.payload;
      return changeTurn(state, id, (turn) =>
        noteCall(addCall(turn, key, call, now), call.id, call.name, now),
      );
    }
    case 'tool_result': {
      const { id: call, ok, value, error, render, decision, abandoned = false } = event.payload;
      const told = { isDenied: decision === 'deny', isAbandoned: abandoned };
      const result = { ok, value, error, render, ...told };
      return changeTurn(state, id, (turn) =>
        noteResult(addResult(turn, key, call, result, now), call, ok, now),
      );
    }
    case 'turn_end': {
      const { outcome: kind, error } = event.payload;
      return changeTurn(state, id, (turn) => endTurn(turn, key, { kind, error, reason: null }));
    }
    case 'compact': {
      const messages = counted(event.payload.removed_messages, 'earlier message');
      const tokens = counted(event.payload.removed_tokens, 'token');
      const text = `Left out to fit the window: ${messages}, about ${tokens}.`;
      return changeTurn(state, id, (turn) => addNotice(turn, key, text));
    }
    default:
      event satisfies never;
      return state; // of a host that is newer than this page
  }
}

/** Long replies are there to be read; a voice is given their beginning. */
function spoken(text: string): string {
  const most = 600;
  return text.length <= most ? `Reply: ${text}` : `Reply: ${text.slice(0, most)} … and more.`;
}
