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
    case 'tool_call':
      return { event: 'tool', payload: { id: event.id, name: event.name, args: event.args } };
    case 'tool_result': {
      const { callId, ok, value, render, error, decision, abandoned } = event;
      const payload = { id: callId, ok, value, render, error, decision };
      const frame = abandoned === undefined ? payload : { ...payload, abandoned };
      return { event: 'tool_result', payload: frame };
    }
    case 'done': {
      const { text, tool_calls, finish } = event;
      const payload = { text, tool_calls };
      return { event: 'done', payload: finish === undefined ? payload : { ...payload, finish } };
    }
    case 'turn_end': {
      const { outcome } = event;
      return {
        event: 'turn_end',
        payload: { outcome: outcomePhase(outcome), error: outcomeError(outcome) },
      };
    }
    default:
      return event satisfies never;
  }
}
