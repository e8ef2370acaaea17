import {
  messageTexts,
  messageToolCalls,
  renderOmitted,
  type FinishReason,
  type LoopEvent,
  type Message,
  type ToolCall,
  type ToolDecision,
  type ToolOutput,
  type TurnOutcome,
} from '@celestea/core';

/** Where a turn's events go. Called synchronously, in the order of the log. */
export type EventSink = (event: LoopEvent) => void;

type EventOf<Kind extends LoopEvent['kind']> = Extract<LoopEvent, { kind: Kind }>;

/** A call that was written to the log. */
export function toolCallEvent(call: ToolCall): EventOf<'tool_call'> {
  return { kind: 'tool_call', id: call.id, name: call.name, args: call.args };
}

/** The full output of a call (L7.1). */
export function toolResultEvent(output: ToolOutput): EventOf<'tool_result'> {
  const event: EventOf<'tool_result'> = {
    kind: 'tool_result',
    callId: output.call_id,
    ok: output.error === null,
    value: shownValue(output),
    render: output.render,
    error: output.error,
    decision: decisionLabel(output.decision),
  };
  if (output.abandoned === true) event.abandoned = true;
  return event;
}

/** The value, or what is seen of a text whose middle was left out (X12). */
function shownValue({ value, surface }: ToolOutput): unknown {
  if (typeof value !== 'string' || surface === undefined) return value;
  return renderOmitted(value, surface) ?? value;
}

/** A finished reply: its joined text and its calls. */
export function doneEvent(message: Message): EventOf<'done'> {
  return replyEvent(messageTexts(message).join(''), messageToolCalls(message), undefined);
}

/** The `done` event of a reply that came in one part or several (L3.7); keeps none of `calls`. */
export function replyEvent(
  text: string,
  calls: readonly ToolCall[],
  finish: FinishReason | undefined,
): EventOf<'done'> {
  const tool_calls = calls.map(({ id, name, args }) => ({ id, name, args }));
  const event: EventOf<'done'> = { kind: 'done', text, tool_calls };
  if (finish !== undefined) event.finish = finish;
  return event;
}

/** The end of a turn; the last event it emits. */
export function turnEndEvent(outcome: TurnOutcome): EventOf<'turn_end'> {
  return { kind: 'turn_end', outcome };
}

/** The flat label of a verdict; `null` when nobody was asked. */
export function decisionLabel(decision: ToolDecision | null): ToolDecision['kind'] | null {
  return decision === null ? null : decision.kind;
}
