import { expectThat } from '@celestea/core';
import type { ApprovalRequest, ApprovalService, ApprovalVerdict } from '@celestea/tools';

import type { ApprovalDecision, Publish } from '../events/index.ts';
import type { WireApproval } from '../wire.ts';
import { HostError } from './host-error.ts';

/** What a desk works with. */
interface ApprovalDeskOptions {
  readonly publish: Publish;
  /** The turn that runs, for the events; `null` when they belong to none. */
  readonly turn: () => string | null;
  /** The time in milliseconds since 1970. */
  readonly now: () => number;
}

interface Question {
  readonly approval: WireApproval;
  readonly resolve: (verdict: ApprovalVerdict) => void;
}

const WITHDRAWN = 'the question was withdrawn';

/**
 * Where calls that need approval wait for a person. Each is published as a `question`, and what
 * came of it as a `status` of the phase `approval`. Ids are random: an answer that was meant for
 * a question of an earlier process answers none of this one.
 */
export class ApprovalDesk implements ApprovalService {
  readonly #options: ApprovalDeskOptions;
  readonly #open = new Map<string, Question>();

  constructor(options: ApprovalDeskOptions) {
    this.#options = options;
  }

  /** Waits for the answer. When the signal aborts, the question is taken back. Never rejects. */
  decide(
    { call_id, name: tool, args, reason }: ApprovalRequest,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<ApprovalVerdict> {
    if (signal?.aborted === true) return Promise.resolve({ kind: 'deny', reason: WITHDRAWN });
    const id = globalThis.crypto.randomUUID();
    const text = `May ${tool} run? ${reason}`;
    const approval = { id, text, call_id, tool, args, reason, asked_ms: this.#options.now() };
    return new Promise((resolve) => {
      const onAbort = (): void => {
        this.#withdraw(id);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#open.set(id, {
        approval,
        resolve: (verdict) => {
          signal?.removeEventListener('abort', onAbort);
          resolve(verdict);
        },
      });
      this.#options.publish({ name: 'question', turn: this.#options.turn(), payload: approval });
    });
  }

  /** The questions that are open, oldest first. */
  list(): WireApproval[] {
    return [...this.#open.values()].map(({ approval }) => approval);
  }

  /** Lets the call run. Throws a {@link HostError} `gone` when no such question is open. */
  allow(id: string): void {
    this.#settle(this.#question(id), 'allow', { kind: 'allow' });
  }

  /** Refuses the call; the model is told why. Throws as {@link allow} does. */
  deny(id: string, reason = 'the user said no'): void {
    expectThat(typeof reason === 'string', 'reason', 'a text', reason);
    this.#settle(this.#question(id), 'deny', { kind: 'deny', reason });
  }

  /** Takes back every question that is open; their calls are refused. */
  withdrawAll(): void {
    for (const id of [...this.#open.keys()]) this.#withdraw(id);
  }

  #question(id: string): Question {
    const question = this.#open.get(id);
    if (question !== undefined) return question;
    throw new HostError('gone', 'that question is not open: it was answered or taken back');
  }

  #withdraw(id: string): void {
    const question = this.#open.get(id);
    if (question === undefined) return;
    this.#settle(question, 'withdrawn', { kind: 'deny', reason: WITHDRAWN });
  }

  #settle({ approval, resolve }: Question, decision: ApprovalDecision, verdict: ApprovalVerdict): void {
    const { id, call_id, tool } = approval;
    this.#open.delete(id);
    resolve(verdict);
    const payload = { phase: 'approval', id, decision, call_id, tool } as const;
    this.#options.publish({ name: 'status', turn: this.#options.turn(), payload });
  }
}
