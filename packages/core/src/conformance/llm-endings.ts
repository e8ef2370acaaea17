import type { GenerateOptions } from '../model.ts';
import { begin, hasDone, hear, hearRest, kindsOf, type Heard, type HeldLlm } from './llm-kit.ts';
import type { LlmTest } from './llm-kit.ts';
import type { LlmScenario } from './llm-replies.ts';
import { watchedSignal, type WatchedSignal } from './watched-signal.ts';

/** Asks, aborts, and reads what is left; what hangs here hangs until the framework ends it. */
type Aborting = (held: HeldLlm, watched: WatchedSignal) => Promise<Heard>;

const abortedIn = (
  scenario: LlmScenario,
  title: string,
  aborting: Aborting,
): readonly LlmTest[] => [
  {
    scenario,
    title: `X2 ${title}`,
    run: async (held) => {
      const { events } = await aborting(held, watchedSignal());
      held.assert.ok(!hasDone(events), kindsOf(events));
    },
  },
  {
    scenario,
    title: 'X2 lets the model go, and leaves no listener on the signal',
    run: async (held) => {
      const watched = watchedSignal();
      await aborting(held, watched);
      await held.released();
      held.assert.equal(watched.listeners(), 0);
    },
  },
];

const whileSilent: Aborting = async ({ llm, request, reached }, { signal, abort }) => {
  const heard = hear(llm, request, { signal });
  await reached();
  abort();
  return heard;
};

const whileReading: Aborting = async (held, { signal, abort }) => {
  const rest = hearRest(await begin(held, { signal }));
  abort();
  return rest;
};

const beforeAsking: Aborting = ({ llm, request }, { signal, abort }) => {
  abort();
  return hear(llm, request, { signal });
};

const BEFORE: LlmTest = {
  scenario: 'aborted',
  title: 'X2 says nothing',
  run: async (held) => {
    const { events } = await beforeAsking(held, watchedSignal());
    const said = events.filter(({ kind }) => kind === 'text' || kind === 'thinking');
    held.assert.deepEqual(said, []);
  },
};

/** Leaves after the first words. */
async function leave(held: HeldLlm, options?: GenerateOptions): Promise<void> {
  const reader = await begin(held, options);
  await reader.return?.();
  await held.released();
}

const LEFT: readonly LlmTest[] = [
  {
    scenario: 'left',
    title: 'C2.3 gives what it has before the reply is over, and lets its reader and the model go',
    run: (held) => leave(held),
  },
  {
    scenario: 'left',
    title: 'X2 leaves no listener on the signal of a reader who left',
    run: async (held) => {
      const { signal, listeners } = watchedSignal();
      await leave(held, { signal });
      held.assert.equal(listeners(), 0);
    },
  },
];

/** What an Llm owes its reader when one of them does not go on to the end. */
export const ENDINGS: readonly LlmTest[] = [
  ...abortedIn('silent', 'an abort ends the wait for a reply', whileSilent),
  ...abortedIn('stalled', 'an abort ends the read that is waiting', whileReading),
  ...LEFT,
  BEFORE,
  ...abortedIn('aborted', 'gives no reply', beforeAsking),
];
