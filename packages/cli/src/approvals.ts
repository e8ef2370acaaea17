import { serdeJsonString } from '@celestea/core';
import type { ApprovalRequest, ApprovalService, ApprovalVerdict } from '@celestea/tools';

import type { TurnRenderer } from './render.ts';
import type { Style } from './style.ts';
import { safeLine } from './text.ts';

/** What came of a question. */
export type Decision =
  | { readonly kind: 'allowed' }
  /** This call, and all of the same tool that follow. */
  | { readonly kind: 'always' }
  /** By an earlier `always`. */
  | { readonly kind: 'allowed before' }
  | { readonly kind: 'refused'; readonly reason: string }
  /** Nobody waits for the answer any more. */
  | { readonly kind: 'withdrawn' };

/** Who asks a person. */
export interface Asker {
  /** Puts the question; the answer comes by {@link Approvals.answer}. */
  ask(request: ApprovalRequest): void;
  /** What was said is no answer; the question stays open. */
  notUnderstood(): void;
  decided(request: ApprovalRequest, decision: Decision): void;
  /** The call is given up before it ran, whether its question was put or not. */
  notRun(callId: string): void;
}

interface Question {
  readonly request: ApprovalRequest;
  readonly decide: (verdict: ApprovalVerdict) => void;
}

const NOBODY =
  'it asks before it runs, and there is no terminal to ask on (nor is there with --json); ' +
  '--yes allows what asks';

/**
 * The questions of the calls that have to be approved, put to a person one at a time. Without
 * anybody to ask, all are refused.
 */
export class Approvals implements ApprovalService {
  readonly #always = new Set<string>();
  readonly #questions: Question[] = [];
  #asker: Asker | null = null;
  /** The one that was put. */
  #open: Question | null = null;

  /** Names who asks from now on; `null` for nobody. */
  askThrough(asker: Asker | null): void {
    this.#asker = asker;
  }

  /** Whether a question waits for its answer. */
  get isOpen(): boolean {
    return this.#open !== null;
  }

  decide(
    request: ApprovalRequest,
    { signal }: { signal?: AbortSignal },
  ): Promise<ApprovalVerdict> {
    if (this.#asker === null) return Promise.resolve({ kind: 'deny', reason: NOBODY });
    if (this.#isAllowedBefore(request)) return Promise.resolve({ kind: 'allow' });
    return new Promise((resolve) => {
      const onAbort = (): void => {
        this.#asker?.notRun(request.call_id);
        this.#close(question, { kind: 'withdrawn' });
        resolve({ kind: 'deny', reason: 'the question was withdrawn' });
      };
      const question: Question = {
        request,
        decide: (verdict) => {
          signal?.removeEventListener('abort', onAbort);
          resolve(verdict);
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#questions.push(question);
      this.#putNext();
    });
  }

  /** Answers the question that is open; without one it does nothing. */
  answer(line: string): void {
    const question = this.#open;
    if (question === null) return;
    const decision = readAnswer(line);
    if (decision === null) {
      this.#asker?.notUnderstood();
      return;
    }
    if (decision.kind === 'always') this.#always.add(question.request.name);
    const isRefused = decision.kind === 'refused';
    question.decide(isRefused ? { kind: 'deny', reason: decision.reason } : { kind: 'allow' });
    this.#close(question, decision);
  }

  #isAllowedBefore(request: ApprovalRequest): boolean {
    if (!this.#always.has(request.name)) return false;
    this.#asker?.decided(request, { kind: 'allowed before' });
    return true;
  }

  /** Takes a question away; when it was the open one, the next is put. */
  #close(question: Question, decision: Decision): void {
    this.#questions.splice(this.#questions.indexOf(question), 1);
    if (this.#open !== question) return; // nobody has seen it
    this.#open = null;
    this.#asker?.decided(question.request, decision);
    // Later, as the others may be about to be withdrawn with it.
    queueMicrotask(() => {
      this.#putNext();
    });
  }

  #putNext(): void {
    for (;;) {
      const [next] = this.#questions;
      if (next === undefined || this.#open !== null) return;
      if (!this.#isAllowedBefore(next.request)) {
        this.#open = next;
        this.#asker?.ask(next.request);
        return;
      }
      this.#questions.shift();
      next.decide({ kind: 'allow' });
    }
  }
}

/** `y`, `a`, or `n` with a reason behind it; `null` for everything else. */
function readAnswer(line: string): Decision | null {
  const text = line.trim();
  if (/^(?:y|yes)$/i.test(text)) return { kind: 'allowed' };
  if (/^(?:a|always)$/i.test(text)) return { kind: 'always' };
  const refusal = /^(?:n|no)(?:[\s,;:]+([^]*))?$/i.exec(text);
  if (refusal === null) return null;
  const reason = refusal[1] ?? '';
  return { kind: 'refused', reason: reason === '' ? 'the person said no' : reason };
}

const LONGEST_NAME = 80;
/** Far more than elsewhere: who allows a call has to see what it does. */
const LONGEST_ARGS = 2_000;
const LONGEST_REASON = 200;

/** What can be answered. */
const CHOICES = 'allow? [y]es / [n]o, because… / [a]lways for this tool';

/** The question as it is shown: nothing of it can steer a terminal. */
export function questionLines({ name, args, reason }: ApprovalRequest, style: Style): string[] {
  const text = serdeJsonString(args);
  const hidden = Array.from(text).length - LONGEST_ARGS;
  return [
    `${style.yellow('?')} ${style.bold(safeLine(name, LONGEST_NAME))} ` +
      safeLine(text, LONGEST_ARGS),
    ...(hidden > 0 ? [style.red(`  ${String(hidden)} more characters are not shown`)] : []),
    style.dim(`  ${safeLine(reason, LONGEST_REASON)}`),
    `  ${CHOICES}`,
  ];
}

/** The decision, on one line. */
function decisionLine(name: string, decision: Decision): string {
  const tool = safeLine(name, LONGEST_NAME);
  switch (decision.kind) {
    case 'allowed':
      return `${tool}: allowed`;
    case 'always':
      return `${tool}: allowed, and from now on always`;
    case 'allowed before':
      return `${tool}: allowed, as always`;
    case 'refused':
      return `${tool}: refused: ${safeLine(decision.reason, LONGEST_REASON)}`;
    case 'withdrawn':
      return `${tool}: not decided; the question is withdrawn`;
    default:
      return decision satisfies never;
  }
}

/** What an asker shows of answers, beside the turn. */
export function answersIn(
  renderer: Pick<TurnRenderer, 'note' | 'notice' | 'callNotRun'>,
): Omit<Asker, 'ask'> {
  return {
    notUnderstood: () => {
      renderer.notice(CHOICES);
    },
    decided: ({ name }, decision) => {
      renderer.note(decisionLine(name, decision));
    },
    notRun: (callId) => {
      renderer.callNotRun(callId);
    },
  };
}
