import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { describe, expect, test } from 'vitest';

import {
  createAgentLoop,
  RETENTION_SERVICE,
  toolResultRetention,
  type ContextPolicy,
  type TurnOptions,
} from '@celestea/agent-loop';
import { assertLogValid, done, FakeToolRegistry, say } from '@celestea/agent-loop/testing';
import {
  Context,
  defaultAgentConfig,
  IncrementalProjection,
  LLM_SERVICE,
  SESSION_LOG_SERVICE,
  TOOL_REGISTRY_SERVICE,
  userMessage,
  type ImageRef,
  type LlmStream,
  type Message,
  type ModelRequest,
  type PendingInjection,
  type SessionEvent,
  type SessionLog,
  type StreamEvent,
  type ToolSpec,
} from '@celestea/core';

import { call } from '../support/turn.ts';
import { LONG_TEXT } from './hostile-behaviours.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes in use, garbage not counted. */
function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const STEPS = 3;
const ENTRIES = 1_000_000;
const TEXT_BYTES = 50_000_000;

/** A log that keeps its rows once and its messages once, as logs for real use do. */
class Log implements SessionLog {
  readonly rows: SessionEvent[] = [];
  readonly #projection = new IncrementalProjection();
  readonly #before: readonly Message[];
  #turns = 0;

  constructor(before: readonly Message[] = []) {
    this.#before = before;
  }

  append(row: SessionEvent): void {
    this.rows.push(row);
    this.#projection.append(row);
  }

  events(): SessionEvent[] {
    return [...this.rows];
  }

  deriveMessages(): Message[] {
    return this.#before.concat(this.#projection.messages());
  }

  clear(): void {
    this.rows.length = 0;
  }

  nextTurnId(): string {
    return `turn-${String(this.#turns++)}`;
  }
}

/** A turn of some steps, and what is huge in it. */
interface Huge {
  readonly name: string;
  readonly log?: Log;
  readonly schemas?: ToolSpec[];
  readonly options?: TurnOptions;
  /** Called once a step. */
  readonly reply?: (step: number) => StreamEvent[];
  /** Of the first call. */
  readonly result?: unknown;
  readonly window?: number;
  /** Bytes of the largest thing, of which nobody may keep another copy at each step. */
  readonly bytes: number;
  /** How the turn ends; of an error, its kind. */
  readonly ends?: unknown;
}

const calling = (step: number): StreamEvent[] =>
  step < STEPS ? [done('', call(`c${String(step)}`))] : say('noon');

/** Runs it; gives what the steps after the first one left in memory. */
async function growth(huge: Huge): Promise<number> {
  const log = huge.log ?? new Log();
  const heaps: number[] = [];
  const tools = new FakeToolRegistry({
    echo: () => (heaps.length === 1 ? (huge.result ?? 'noon') : 'noon'),
  });
  const { schemas } = huge;
  if (schemas !== undefined) tools.schemas = () => schemas;
  const llm = {
    generate: ({ tools: sent }: ModelRequest): Promise<LlmStream> => {
      if (schemas !== undefined) expect(sent === schemas, 'the very list').toBe(true);
      heaps.push(heapUsed());
      const events = (huge.reply ?? calling)(heaps.length).values();
      return Promise.resolve({
        [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve(events.next()) }),
      } as LlmStream);
    },
  };
  const spill = (): Promise<{ locator: string; bytes: number; retrievalHint: string }> =>
    Promise.resolve({ locator: '/tmp/x', bytes: 1, retrievalHint: 'read it' });
  const ctx = Context.root()
    .provide(LLM_SERVICE, llm)
    .provide(SESSION_LOG_SERVICE, log)
    .provide(TOOL_REGISTRY_SERVICE, tools)
    .provide(RETENTION_SERVICE, toolResultRetention(spill));
  const config = defaultAgentConfig({ context_window_tokens: huge.window ?? 65_536, max_steps: 0 });
  const outcome = await createAgentLoop(config).runTurnOutcome(ctx, 'go', huge.options ?? {});
  const shown = typeof outcome === 'string' ? outcome : outcome.error.kind;
  expect(shown).toBe(huge.ends ?? 'completed');
  assertLogValid(log.rows);
  const [first = 0, ...later] = heaps.slice(1); // the first step brings what is huge
  return Math.max(0, ...later) - first;
}

const IMAGE: ImageRef = {
  attachment_id: 'ab'.repeat(32),
  media_type: 'image/png',
  width: 0,
  height: 0,
};
const SPEC: ToolSpec = { name: 'echo', description: 'echoes', parameters: { type: 'object' } };
const many = <T>(one: T): T[] => new Array<T>(ENTRIES).fill(one);
const flood = (): PendingInjection[] => many({ text: 'x', from: '' });

function floodOnce(): () => PendingInjection[] {
  let drained = false;
  return () => {
    const items = drained ? [] : flood();
    drained = true;
    return items;
  };
}

const withCall = (step: number, ...events: StreamEvent[]): StreamEvent[] => [
  ...events,
  ...calling(step),
];

const HUGE: readonly (() => Huge)[] = [
  () => ({
    name: 'a history of 1e6 messages',
    log: new Log(many(userMessage('x'))),
    bytes: ENTRIES * 8,
  }),
  () => ({
    name: 'a history of 1e6 messages that is not fitted',
    log: new Log(many(userMessage('x'))),
    window: 0,
    bytes: ENTRIES * 8,
  }),
  () => ({ name: '1e6 tools', schemas: many(SPEC), bytes: ENTRIES * 8 }),
  () => ({
    name: '1e6 pictures',
    options: { attachments: many(IMAGE) },
    window: 0,
    bytes: ENTRIES * 8,
  }),
  () => ({
    name: '1e6 messages that came in',
    options: { injections: { drain: floodOnce() } },
    window: 0,
    bytes: ENTRIES * 8,
  }),
  () => ({ name: 'a result of 50 MB, spilled', result: LONG_TEXT, bytes: TEXT_BYTES }),
  () => ({
    name: 'words of 50 MB that are streamed',
    reply: (step) => withCall(step, { kind: 'text', text: LONG_TEXT }),
    bytes: TEXT_BYTES,
  }),
  () => ({
    name: 'reasoning of 50 MB',
    reply: (step) => withCall(step, { kind: 'thinking', text: LONG_TEXT }),
    bytes: TEXT_BYTES,
  }),
  () => ({
    name: 'an event of 50 MB that is none',
    reply: () => [LONG_TEXT as unknown as StreamEvent],
    bytes: TEXT_BYTES,
    ends: 'stream',
  }),
  () => ({
    name: 'arguments of 50 MB',
    reply: (step) => {
      const { id, name } = call(`c${String(step)}`);
      return step === 1 ? [done('', { id, name, args: LONG_TEXT })] : calling(step);
    },
    window: 0,
    bytes: TEXT_BYTES,
  }),
];

/** Keeps what it is shown: what the measure has to notice. */
function keeping(): Huge {
  const kept: Message[][] = [];
  const contextPolicy: ContextPolicy = ({ messages }) => {
    kept.push([...messages]);
    return { messages: [], outcome: { removedMessages: 0, removedTokens: 0, trimmed: true } };
  };
  const log = new Log(many(userMessage('x')));
  return { name: 'a copy a step', log, options: { contextPolicy }, bytes: ENTRIES * 8 };
}

describe('L5.1 what is huge is kept once, however many steps see it', () => {
  test.each(HUGE.map((make) => ({ make, name: make().name })))('L5.1 $name', async ({ make }) => {
    const huge = make();
    expect(await growth(huge)).toBeLessThan(huge.bytes * 0.75);
  });

  test('a copy that is kept at each step would be noticed', async () => {
    const huge = keeping();
    expect(await growth(huge)).toBeGreaterThan(huge.bytes * 0.75);
  });
});
