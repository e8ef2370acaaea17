import { expectThat, serviceToken, type Context, type ServiceToken } from '@celestea/core';

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
