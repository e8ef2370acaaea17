import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { EventRing, type EventRingOptions } from '../src/events/index.ts';
import { connect, contractFaults, envelopeOf, joined, settle, text } from './events-support.ts';

type Step =
  | { readonly kind: 'append'; readonly lengths: readonly number[] }
  | { readonly kind: 'read' | 'settle' | 'reconnect'; readonly who: number };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: appendStep() },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constantFrom('read' as const, 'settle' as const, 'reconnect' as const),
        who: fc.nat(1),
      }),
    },
  ),
  { maxLength: 60 },
);

function appendStep(): fc.Arbitrary<Step> {
  const lengths = fc.array(fc.oneof(fc.nat(5), fc.nat(150)), { minLength: 1, maxLength: 6 });
  return fc.record({ kind: fc.constant('append' as const), lengths });
}

/** Someone who reads, and comes back with the last id it saw. */
class Visitor {
  /** The seq before all that it has to get. */
  readonly #from: number;
  #last: number;
  readonly #ring: EventRing;
  #client: ReturnType<typeof connect>;
  #checked = 0;
  readonly lagged: number[] = [];

  constructor(ring: EventRing, isNew: boolean) {
    this.#ring = ring;
    this.#from = isNew ? ring.lastSeq : -1;
    this.#last = this.#from;
    this.#client = connect(ring, { lastEventId: isNew ? null : -1 });
  }

  read(): Promise<void> {
    return this.#client.read();
  }

  async reconnect(): Promise<void> {
    await this.#client.cancel();
    this.check(); // with what was on its way
    const id = this.#client.frames.at(-1)?.id ?? this.#last;
    expect(Number(id)).toBe(this.#last);
    this.#client = connect(this.#ring, { lastEventId: this.#last });
    this.#checked = 0;
  }

  /** Every frame is the next event, or says that the ring lost it. */
  check(): void {
    const { frames } = this.#client;
    for (const frame of frames.slice(this.#checked)) {
      const { seq, payload } = envelopeOf(frame);
      expect(contractFaults(frame)).toEqual([]);
      expect(frame.id).toBe(String(seq));
      if (frame.event === 'status') {
        expect(payload['phase']).toBe('lagged');
        expect(this.#ring.firstSeq).toBeGreaterThan(this.#last + 1);
        expect(seq).toBeGreaterThan(this.#last);
        this.lagged.push(seq);
      } else {
        expect(seq).toBe(this.#last + 1);
        expect(String(payload['delta']).split(' ')[0]).toBe(String(seq));
      }
      this.#last = seq;
    }
    this.#checked = frames.length;
  }

  /** Reads all there is, and leaves. */
  async finish(): Promise<void> {
    this.check();
    while (this.#last < this.#ring.lastSeq) {
      if (this.#client.isClosed) await this.reconnect();
      await this.read();
      this.check();
    }
    await this.#client.cancel();
  }
}

/** Runs the steps; what each visitor was told of having lagged. */
async function run(script: Step[], limits: EventRingOptions): Promise<number[]> {
  const ring = new EventRing('s', limits);
  const visitors = [new Visitor(ring, true), new Visitor(ring, false)];
  for (const step of script) {
    if (step.kind === 'append') {
      for (const length of step.lengths) {
        ring.append(text(`${String(ring.lastSeq + 1)} ${'é\u{1f600}\u2028'.repeat(length)}`));
      }
      continue;
    }
    const visitor = visitors[step.who];
    if (step.kind === 'settle') await settle();
    else if (step.kind === 'reconnect') await visitor?.reconnect();
    else void visitor?.read();
  }
  await settle();
  for (const visitor of visitors) await visitor.finish();
  expect(joined.size).toBe(0);
  return visitors.flatMap(({ lagged }) => lagged);
}

describe('whatever the order of appends, reads and reconnects', () => {
  test('a reader gets each event once and in order while the ring holds them', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (script) => {
        expect(await run(script, {})).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  test('a reader gets each event once and in order, or is told that some are lost', async () => {
    const limits = fc.oneof(
      fc.record({ maxEvents: fc.integer({ min: 1, max: 8 }) }),
      fc.record({ maxBytes: fc.integer({ min: 1, max: 20_000 }) }),
    );
    let lagged = 0;
    await fc.assert(
      fc.asyncProperty(steps, limits, async (script, limit) => {
        lagged += (await run(script, limit)).length;
      }),
      { numRuns: 200 },
    );
    expect(lagged).toBeGreaterThan(0);
  });
});
