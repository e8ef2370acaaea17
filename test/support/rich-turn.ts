import { createAgentLoop } from '@celestea/agent-loop';
import {
  collectingSink,
  done,
  FakeSessionLog,
  FakeToolRegistry,
  ScriptedLlm,
  testContext,
  think,
  type FakeTool,
  type Script,
} from '@celestea/agent-loop/testing';
import {
  defaultAgentConfig,
  type Llm,
  type LlmStream,
  type StreamEvent,
  type TurnOutcome,
} from '@celestea/core';

import { call, Mailbox, quiet } from './turn.ts';

/** Where in a turn something may happen. */
export type PointKind = 'event' | 'row' | 'await';

/** Called at each point with its place among those of its kind; an await waits for the answer. */
export type PointHook = (kind: PointKind, index: number, name: string) => unknown;

/** How a tool takes a cancel while it runs. */
export type ToolManner = 'quick' | 'stops' | 'late' | 'deaf';

/** Thinking, signed and not, words, three calls in two batches, four steps, three messages. */
function richScripts(mail: Mailbox): Script[] {
  const post = (text: string) => (): void => {
    mail.post(text, 'Ann');
  };
  return [
    [
      think('first'),
      { kind: 'text', text: 'Let me look.' },
      { kind: 'thinking', text: 'signed', meta: { signature: 's1' } },
      post('one'),
      done('Let me look.', call('a'), call('b'), call('c')),
      think('late'),
    ],
    [think('then'), done('', call('d', 'post'))],
    [{ kind: 'text', text: 'It is noon.' }, post('three'), done('It is noon.')],
    [think('so'), { kind: 'text', text: 'Good.' }, done('Good.')],
  ];
}

/** The messages that a whole rich turn brings. */
export const RICH_MESSAGES = ['one', 'two', 'three'];

/** Runs a tool; `aborted` says whether its turn was cancelled by now. */
function tool(manner: ToolManner, run: () => unknown, aborted: () => boolean): FakeTool {
  return async (_, { signal }) => {
    const value = run();
    if (manner === 'quick') return value;
    if (manner !== 'stops') {
      await quiet(manner === 'late' ? 4 : 1);
      return manner === 'deaf' && aborted() ? new Promise(() => undefined) : value;
    }
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        reject(new Error('stopped'));
      };
      signal?.addEventListener('abort', stop, { once: true });
      void quiet(1).then(() => {
        signal?.removeEventListener('abort', stop);
        resolve(value);
      });
    });
  };
}

/** A model whose `generate` and every `next` are points. */
function pointed(inner: Llm, wait: (name: string) => unknown): Llm {
  const next = async (source: AsyncIterator<StreamEvent>): Promise<IteratorResult<StreamEvent>> => {
    await wait('next');
    return source.next();
  };
  return {
    generate: async (request, options): Promise<LlmStream> => {
      await wait('generate');
      const source = (await inner.generate(request, options))[Symbol.asyncIterator]();
      return {
        [Symbol.asyncIterator]: () => ({
          next: () => next(source),
          return: async () => {
            await source.return?.();
            return { done: true, value: undefined };
          },
        }),
      };
    },
  };
}

export interface RichTurn {
  readonly outcome: TurnOutcome;
  readonly log: FakeSessionLog;
  readonly mail: Mailbox;
  /** How many points of each kind it passed, by name and in order. */
  readonly passed: Record<PointKind, string[]>;
  /** Requests made after the first cancel. */
  readonly lateRequests: number;
  readonly started: readonly string[];
}

/** Plays the rich turn; `hook` is told of each point, and `cancel` cancels. */
export async function playRich(
  manner: ToolManner,
  hook: (cancel: () => void) => PointHook,
): Promise<RichTurn> {
  const controllers = [new AbortController(), new AbortController()] as const;
  let cancels = 0;
  const at = hook(() => {
    controllers[cancels === 0 ? 0 : 1].abort(`cancel ${String(cancels)}`);
    cancels += 1;
  });
  const passed: Record<PointKind, string[]> = { event: [], row: [], await: [] };
  const pass = (kind: PointKind, name: string): unknown =>
    at(kind, passed[kind].push(name) - 1, name);
  const wait = (name: string): unknown => pass('await', name);

  const mail = new Mailbox();
  const log = new FakeSessionLog({
    onAppend: ({ type }) => void pass('row', type),
    onFlush: () => wait('flush'),
  });
  const script = new ScriptedLlm(richScripts(mail));
  let lateRequests = 0;
  const llm = pointed(script, (name) => {
    if (name === 'generate' && cancels > 0) lateRequests += 1;
    return wait(name);
  });
  const aborted = (): boolean => cancels > 0;
  const post = (): void => {
    mail.post('two', 'Ann');
  };
  const tools = new FakeToolRegistry({
    echo: tool(manner, () => 'echoed', aborted),
    post: tool(manner, post, aborted),
  });
  const dispatch = tools.dispatch.bind(tools);
  tools.dispatch = async (input, options) => {
    const result = dispatch(input, options);
    result.catch(() => undefined);
    await wait('dispatch');
    return result;
  };
  const { sink } = collectingSink();
  const loop = createAgentLoop(defaultAgentConfig({ max_parallel_tool_calls: 2 }), {
    signal: controllers[0].signal,
    injections: mail,
    sink: (event) => {
      sink(event);
      pass('event', event.kind);
    },
  });
  const ctx = testContext({ llm, log, tools });
  const outcome = await loop.runTurnOutcome(ctx, 'go', { signal: controllers[1].signal });
  const started = tools.dispatched.map(({ call_id }) => call_id);
  return { outcome, log, mail, passed, lateRequests, started };
}
