import { outcomeError, outcomePhase, type LoopEvent, type SseEventName } from '@celestea/core';

/** One server-sent event before it gets its envelope: the name and the payload (L7.4). */
export interface SseFrame {
  event: SseEventName;
  payload: Record<string, unknown>;
}

/** The frame of an event, as `contracts/sse-events.json` lists it. */
export function loopEventToSse(event: LoopEvent): SseFrame {
  switch (event.kind) {
    case 'text':
    case 'thinking':
      return { event: event.kind, payload: { delta: event.delta } };
    case 'tool_call': {
      const { id, name, args } = event;
      return { event: 'tool', payload: { id, name, args } };
    }
    case 'tool_result': {
      const { kind, callId: id, ok, value, render, error, decision, ...more } = event;
      return { event: kind, payload: { id, ok, value, render, error, decision, ...more } };
    }
    case 'done': {
      const { kind, ...payload } = event;
      return { event: kind, payload };
    }
    case 'turn_end': {
      const { kind, outcome } = event;
      return {
        event: kind,
        payload: { outcome: outcomePhase(outcome), error: outcomeError(outcome) },
      };
    }
    default:
      return event satisfies never;
  }
}
