import {
  cutMiddle,
  expectThat,
  utf8Length,
  type OmittedSurface,
  type ToolCall,
  type ToolOutput,
} from '@celestea/core';

import { raceCancel } from './cancel.ts';
import type { SpillRef, ToolResultRetention } from './retention.ts';
import type { Turn } from './turn.ts';

/** Its result is a page that the model asked for, and is bounded by the tool. */
const EXEMPT_TOOL = 'read_file';

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
