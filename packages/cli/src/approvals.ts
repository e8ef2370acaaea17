import { serdeJsonString } from '@celestea/core';
import type { ApprovalRequest, ApprovalService, ApprovalVerdict } from '@celestea/tools';

import type { TurnRenderer } from './render.ts';
import type { Style } from './style.ts';
import { safeLine } from './text.ts';

/** What came of a question: how that is told, and what it means for the call. */
interface Decision {
  readonly said: string;
  readonly verdict: ApprovalVerdict;
}

const ALLOWED: Decision = { said: 'allowed', verdict: { kind: 'allow' } };
/** This call, and all of the same tool that follow. */
const ALWAYS: Decision = { ...ALLOWED, said: 'allowed, and from now on always' };
/** By an earlier {@link ALWAYS}. */
const ALLOWED_BEFORE: Decision = { ...ALLOWED, said: 'allowed, as always' };
/** Nobody waits for the answer any more. */
const WITHDRAWN: Decision = {
  said: 'not decided; the question is withdrawn',
  verdict: { kind: 'deny', reason: 'the question was withdrawn' },
};

/** Who asks a person. */
export interface Asker {
  /** Puts the question; the answer comes by {@link Approvals.answer}. */
  ask(request: ApprovalRequest): void;
  /** What was said is no answer; the question stays open. */
  notUnderstood(): void;
  /** `said` is the decision in words. */
  decided(request: ApprovalRequest, said: string): void;
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
    if (this.#isAllowedBefore(request)) return Promise.resolve(ALLOWED.verdict);
    return new Promise((resolve) => {
      const onAbort = (): void => {
        this.#asker?.notRun(request.call_id);
        this.#close(question, WITHDRAWN);
        resolve(WITHDRAWN.verdict);
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
    if (decision === ALWAYS) this.#always.add(question.request.name);
    question.decide(decision.verdict);
    this.#close(question, decision);
  }

  #isAllowedBefore(request: ApprovalRequest): boolean {
    if (!this.#always.has(request.name)) return false;
    this.#asker?.decided(request, ALLOWED_BEFORE.said);
    return true;
  }

  /** Takes a question away; when it was the open one, the next is put. */
  #close(question: Question, decision: Decision): void {
    this.#questions.splice(this.#questions.indexOf(question), 1);
    if (this.#open !== question) return; // nobody has seen it
    this.#open = null;
    this.#asker?.decided(question.request, decision.said);
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
      next.decide(ALLOWED.verdict);
    }
  }
}

/** `y`, `a`, or `n` with a reason behind it; `null` for everything else. */
function readAnswer(line: string): Decision | null {
  const text = line.trim();
  if (/^(?:y|yes)$/i.test(text)) return ALLOWED;
  if (/^(?:a|always)$/i.test(text)) return ALWAYS;
  const refusal = /^(?:n|no)(?:[\s,;:]+([^]*))?$/i.exec(text);
  if (refusal === null) return null;
  const [, given = ''] = refusal;
  const reason = given === '' ? 'the person said no' : given;
  return { said: `refused: ${reason}`, verdict: { kind: 'deny', reason } };
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

/** What an asker shows of answers, beside the turn. */
export function answersIn(
  renderer: Pick<TurnRenderer, 'note' | 'notice' | 'callNotRun'>,
): Omit<Asker, 'ask'> {
  return {
    notUnderstood: () => {
      renderer.notice(CHOICES);
    },
    decided: ({ name }, said) => {
      renderer.note(`${safeLine(name, LONGEST_NAME)}: ${safeLine(said, LONGEST_REASON)}`);
    },
    notRun: (callId) => {
      renderer.callNotRun(callId);
    },
  };
}
