import { expectThat } from '@celestea/core';
import type { ApprovalRequest, ApprovalService, ApprovalVerdict } from '@celestea/tools';

import type { Publish } from '../events/host-event.ts';
import { HostError } from './host-error.ts';
import { quietly } from './quiet-publish.ts';

/** A question that waits for its answer. */
export interface PendingApproval {
  /** To be named in the answer. */
  readonly id: string;
  readonly callId: string;
  readonly tool: string;
  /** As the model gave them: show them as text, never as markup. */
  readonly args: unknown;
  /** Why a guard wants the call approved. */
  readonly reason: string;
  /** Milliseconds since 1970. */
  readonly askedMs: number;
}

/** What came of a question; `withdrawn`: nobody waits for the answer any more. */
export type ApprovalDecision = 'allow' | 'deny' | 'withdrawn';

/** What a desk works with. */
export interface ApprovalDeskOptions {
  readonly publish: Publish;
  /** The turn that runs, for the events; without it they belong to none. */
  readonly turn?: () => string | null;
  /** The time in milliseconds since 1970; for tests. */
  readonly now?: () => number;
}

interface Question {
  readonly approval: PendingApproval;
  readonly resolve: (verdict: ApprovalVerdict) => void;
}

const WITHDRAWN = 'the question was withdrawn';

/**
 * Where calls that need approval wait for a person. Each is published as a `question`, and what
 * came of it as a `status` of the phase `approval`. Ids are random: an answer that was meant for
 * a question of an earlier process answers none of this one.
 */
export class ApprovalDesk implements ApprovalService {
  readonly #publish: Publish;
  readonly #turn: () => string | null;
  readonly #now: () => number;
  readonly #open = new Map<string, Question>();

  /** Throws a `TypeError` when an option is no function. */
  constructor({ publish, turn = () => null, now = Date.now }: ApprovalDeskOptions) {
    expectThat(typeof publish === 'function', 'publish', 'a function', publish);
    expectThat(typeof turn === 'function', 'turn', 'a function', turn);
    expectThat(typeof now === 'function', 'now', 'a function', now);
    this.#publish = quietly(publish);
    this.#turn = turn;
    this.#now = now;
  }

  /** Waits for the answer. When the signal aborts, the question is taken back. Never rejects. */
  decide(
    request: ApprovalRequest,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<ApprovalVerdict> {
    if (signal?.aborted === true) return Promise.resolve({ kind: 'deny', reason: WITHDRAWN });
    const approval = this.#pending(request);
    return new Promise((resolve) => {
      const onAbort = (): void => {
        this.#withdraw(approval.id);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#open.set(approval.id, {
        approval,
        resolve: (verdict) => {
          signal?.removeEventListener('abort', onAbort);
          resolve(verdict);
        },
      });
      this.#ask(approval);
    });
  }

  /** The questions that are open, oldest first. */
  list(): PendingApproval[] {
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

  #pending({ call_id, name, args, reason }: ApprovalRequest): PendingApproval {
    const id = globalThis.crypto.randomUUID();
    return { id, callId: call_id, tool: name, args, reason, askedMs: this.#now() };
  }

  #ask({ id, callId, tool, args, reason, askedMs }: PendingApproval): void {
    const text = `May ${tool} run? ${reason}`;
    const payload = { id, text, call_id: callId, tool, args, reason, asked_ms: askedMs };
    this.#publish({ name: 'question', turn: this.#turn(), payload });
  }

  #question(id: string): Question {
    expectThat(typeof id === 'string', 'id', 'the id of a question', id);
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
    const { id, callId, tool } = approval;
    this.#open.delete(id);
    resolve(verdict);
    const payload = { phase: 'approval', id, decision, call_id: callId, tool };
    this.#publish({ name: 'status', turn: this.#turn(), payload });
  }
}
