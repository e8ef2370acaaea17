import {
  cutMiddle,
  expectThat,
  serviceToken,
  utf8Length,
  type Context,
  type OmittedSurface,
  type ServiceToken,
  type ToolCall,
  type ToolOutput,
} from '@celestea/core';

import { raceCancel } from './cancel.ts';
import type { Turn } from './turn.ts';

/** Where a text was put that is too long for the model. */
export interface SpillRef {
  /** What finds it again: a path, a key. */
  locator: string;
  /** UTF-8 bytes that were put there. */
  bytes: number;
  /** How to get at it, in words for the model. */
  retrievalHint: string;
}

/** Keeps long tool results out of the model's view (X12). All sizes are UTF-8 bytes. */
export interface ToolResultRetention {
  /** The longest result that is shown whole. */
  singleResultBytes: number;
  /** What the results of one step may come to together. */
  stepResultBytes: number;
  /** What is shown of the start of a longer one. */
  previewHeadBytes: number;
  /** What is shown of its end. */
  previewTailBytes: number;
  /** Puts the whole text somewhere; `null` when it cannot, and then it is shown whole. */
  spill(text: string, call: { callId: string }): Promise<SpillRef | null>;
}

/** A {@link ToolResultRetention} under this token bounds the results of every turn. */
export const RETENTION_SERVICE: ServiceToken<ToolResultRetention> = serviceToken(
  'celestea.agent-loop.ToolResultRetention',
);

const KIB = 1024;

/** The sizes of a policy, in bytes. */
export type RetentionSizes = Omit<ToolResultRetention, 'spill'>;

const SIZES: Readonly<RetentionSizes> = {
  singleResultBytes: 64 * KIB,
  stepResultBytes: 128 * KIB,
  previewHeadBytes: 4 * KIB,
  previewTailBytes: KIB,
};

/** Its result is a page that the model asked for, and is bounded by the tool. */
const EXEMPT_TOOL = 'read_file';

/** A policy with the default sizes: 64 KiB a result, 128 KiB a step, 4 KiB head, 1 KiB tail. */
export function toolResultRetention(
  spill: ToolResultRetention['spill'],
  sizes: Partial<RetentionSizes> = {},
): ToolResultRetention {
  return { ...SIZES, ...sizes, spill };
}

/** The policy of a scope, checked; `null` when there is none. Throws a `TypeError`. */
export function resolveRetention(ctx: Context): ToolResultRetention | null {
  const given: unknown = ctx.get(RETENTION_SERVICE);
  if (given === undefined || given === null) return null; // `null` hides a parent's (C5.1)
  expectThat(typeof given === 'object', 'retention', 'an object', given);
  const policy = given as ToolResultRetention;
  const fields = given as Partial<Record<string, unknown>>;
  const sizes: RetentionSizes = { ...SIZES }; // a copy: what was checked is what counts
  for (const name of Object.keys(SIZES) as (keyof RetentionSizes)[]) {
    const bytes = fields[name];
    const fits = typeof bytes === 'number' && bytes >= 0;
    expectThat(fits, `retention.${name}`, 'bytes, 0 or more', bytes);
    sizes[name] = bytes;
  }
  const spill = fields['spill'];
  expectThat(typeof spill === 'function', 'retention.spill', 'a function', spill);
  return { ...sizes, spill: (text, call) => policy.spill(text, call) };
}

/** Bounds the results of one step, in the model's order. */
export class StepRetention {
  readonly #turn: Turn;
  #shownBytes = 0;

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  /** The output as it is, or with the surface that the model is to see instead. */
  async bound(call: ToolCall, output: ToolOutput): Promise<ToolOutput> {
    const policy = this.#turn.seams.retention;
    const { value, error, surface } = output;
    if (policy === null || typeof value !== 'string' || error !== null) return output;
    if (call.name === EXEMPT_TOOL || surface !== undefined) return output;
    const bytes = utf8Length(value);
    const over =
      bytes > policy.singleResultBytes || this.#shownBytes + bytes > policy.stepResultBytes;
    const omitted = over ? await this.#spill(policy, call, value) : null;
    if (omitted === null) {
      this.#shownBytes += bytes;
      return output;
    }
    this.#shownBytes += omitted.head_bytes + omitted.tail_bytes;
    return { ...output, surface: omitted };
  }

  async #spill(
    policy: ToolResultRetention,
    call: ToolCall,
    text: string,
  ): Promise<OmittedSurface | null> {
    const cut = cutMiddle(text, policy.previewHeadBytes, policy.previewTailBytes);
    if (cut === null) return null; // the preview would be all of it
    if (this.#turn.cancelled) return null; // nothing is started any more
    const spilled = Promise.resolve()
      .then(() => policy.spill(text, { callId: call.id }))
      .then(readSpillRef);
    const result = await raceCancel(this.#turn.cancellation, spilled);
    if (result.outcome === 'failed') {
      const message = `the result of ${call.name} was not spilled`;
      this.#turn.diagnose('spill_failed', message, result.error);
    }
    const ref = result.outcome === 'ok' ? result.value : null;
    if (ref === null) return null;
    return {
      kind: 'omitted',
      omitted_bytes: cut.omittedBytes,
      total_bytes: cut.totalBytes,
      locator: ref.locator,
      retrieval_hint: ref.hint,
      head_bytes: utf8Length(cut.head),
      tail_bytes: utf8Length(cut.tail),
    };
  }
}

/** Read once, before it is believed: it comes from the host, and its getters may throw. */
function readSpillRef(value: unknown): { locator: string; hint: string } | null {
  if (value === null) return null;
  const { locator, retrievalHint } = (value ?? {}) as Partial<SpillRef>;
  const fits = typeof locator === 'string' && typeof retrievalHint === 'string';
  expectThat(fits, 'spill', 'a SpillRef or null', value);
  return { locator, hint: retrievalHint };
}
