import type { ToolInput } from '@celestea/core';

const judged = new WeakMap<ToolInput, ToolInput>();

/** Notes as what a call was put to the guards: with frozen arguments, which the tool's are not. */
export function noteJudged(call: ToolInput, asJudged: ToolInput): void {
  judged.set(call, asJudged);
}

/** The input the guards were asked about; of a call without a note, the call itself. */
export function judgedInput(call: ToolInput): ToolInput {
  return judged.get(call) ?? call;
}
