import { isRecord } from '@celestea/core';

import { callResult, pieceText, stepCalls, stepText, type TurnPlan } from './plan.ts';

/** Holds the events of a turn against its plan. */
export class TurnCheck {
  readonly plan: TurnPlan;
  readonly faults: string[] = [];
  /** Calls whose result was seen. */
  readonly answered: string[] = [];
  #step = 0;
  #piece = 0;
  /** Calls that were seen without their result. */
  readonly #open = new Set<string>();
  #outcome: unknown = null;

  constructor(plan: TurnPlan) {
    this.plan = plan;
  }

  /** An event of the turn, its name and its payload. */
  see(name: string, payload: Record<string, unknown>): void {
    switch (name) {
      case 'text':
        this.#seeText(payload['delta']);
        break;
      case 'done':
        this.#seeReply(payload);
        break;
      case 'tool':
        this.#seeCall(String(payload['id']));
        break;
      case 'tool_result':
        this.#seeResult(String(payload['id']), payload);
        break;
      case 'turn_end':
        this.#outcome = payload['outcome'];
        break;
      case 'status':
        if (!isQuiet(payload['phase'])) this.#fault(`a status ${JSON.stringify(payload)}`);
        break;
      default:
        this.#fault(`an event ${name}`);
    }
  }

  /** What has to be true of a turn that is over. */
  end(): void {
    const { steps } = this.plan;
    if (this.#outcome !== 'completed') this.#fault(`the outcome ${String(this.#outcome)}`);
    if (this.#step !== steps) this.#fault(`${String(this.#step)} of ${String(steps)} steps`);
    for (const id of this.#open) this.#fault(`no result of ${id}`);
    const calls = (steps - 1) * this.plan.calls;
    const { length } = this.answered;
    if (length !== calls) this.#fault(`${String(length)} of ${String(calls)} results`);
  }

  #seeText(delta: unknown): void {
    const fits = delta === pieceText(this.plan, this.#step, this.#piece);
    if (!fits) this.#fault(`another text as number ${String(this.#piece)}`);
    this.#piece += 1;
  }

  #seeReply({ text, tool_calls: calls }: Record<string, unknown>): void {
    const { pieces } = this.plan;
    if (this.#piece !== pieces) this.#fault(`${String(this.#piece)} of ${String(pieces)} texts`);
    if (text !== stepText(this.plan, this.#step)) this.#fault('another reply');
    const ids = Array.isArray(calls) ? calls.map((call) => isRecord(call) && call['id']) : [];
    const expected = stepCalls(this.plan, this.#step).map(({ id }) => id);
    if (ids.join() !== expected.join()) this.#fault(`the calls ${ids.join()}`);
    this.#step += 1;
    this.#piece = 0;
  }

  #seeCall(id: string): void {
    const known = stepCalls(this.plan, this.#step - 1).some((call) => call.id === id);
    if (!known || this.#open.has(id)) this.#fault(`a call ${id}`);
    this.#open.add(id);
  }

  #seeResult(id: string, { ok, value }: Record<string, unknown>): void {
    if (!this.#open.delete(id)) this.#fault(`a result of ${id}, which was not open`);
    if (ok !== true || value !== callResult(id)) this.#fault(`another result of ${id}`);
    this.answered.push(id);
  }

  #fault(what: string): void {
    this.faults.push(`step ${String(this.#step)}: ${what}`);
  }
}

const isQuiet = (phase: unknown): boolean => phase === 'start' || phase === 'progress';
