import type { ApprovalRequest, ApprovalService, ApprovalVerdict } from '@celestea/tools';

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
