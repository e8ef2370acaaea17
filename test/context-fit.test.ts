import {
  assistantText,
  deriveMessagesFrom,
  IncrementalProjection,
  messageText,
  systemMessage,
  toolResultMessage,
  userMessage,
  userMessageWithImages,
  type ImageRef,
  type Llm,
  type Message,
  type SessionEvent,
  type ToolCall,
} from '@celestea/core';
import { describe, expect, test } from 'vitest';

import { ContextBudgetError, fitContext } from '../src/context-fit.ts';
import { TRIMMED_MARKER_PREFIX, trimContext } from '../src/context-trim.ts';
import { DefaultAgentLoop } from '../src/loop.ts';
import {
  estimateMessagesTokens,
  estimateMessageTokens,
  estimateTokens,
  withMessageEstimator,
} from '../src/tokens.ts';
import {
  callTools,
  FakeSessionLog,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
} from '../src/testing/index.ts';
import { assertRequestValid } from './support/request-checker.ts';

const calls = (...made: ToolCall[]): Message => ({
  role: 'assistant',
  content: made.map((content) => ({ type: 'tool_call', content })),
  tool_call_id: null,
});
const price = estimateMessagesTokens;
const texts = (messages: readonly Message[]): unknown[] =>
  messages.map((message) => messageText(message) ?? message.content);

const A = 'a'.repeat(400);
const B = 'b'.repeat(400);
const NEW = 'n'.repeat(600);

/** One turn of three steps: a long result, long arguments, and the newest calls. */
const turn: Message[] = [
  systemMessage('Be kind.'),
  userMessage('u'.repeat(300)),
  calls({ id: '1', name: 'read', args: { path: 'a' } }),
  toolResultMessage('1', A),
  calls({ id: '2', name: 'write', args: { text: 'w'.repeat(200) } }),
  toolResultMessage('2', B),
  calls({ id: '3', name: 'write', args: { text: 'm'.repeat(300) } }),
  toolResultMessage('3', NEW),
];

/** What gives first, from the whole turn down, and what it looks like then. */
const A_OUT = '[context-trimmed] result of 400 bytes left out to fit';
const ARGS_2 = { notice: '[context-trimmed] arguments of 211 bytes left out to fit' };
const ARGS_3 = { notice: '[context-trimmed] arguments of 311 bytes left out to fit' };

/** The turn at the largest budget at which `gave` is seen in it. */
function firstWith(gave: (messages: Message[]) => boolean): Message[] {
  for (let budget = price(turn); budget > 0; budget -= 1) {
    const { messages } = fitContext(turn, 0, budget, 1, 10);
    if (gave(messages)) return messages;
  }
  throw new Error('it never gave');
}

const argsOf = (messages: readonly Message[], id: string): unknown => {
  const blocks = messages.flatMap(({ content }) => content);
  const found = blocks.find((block) => block.type === 'tool_call' && block.content.id === id);
  return found?.type === 'tool_call' ? found.content.args : undefined;
};

describe('who gives, in order', () => {
  test('X7 within budget everything is sent as it is', () => {
    const { messages, outcome } = fitContext(turn, 0, price(turn), 1, 10);
    expect(messages).toEqual(turn);
    expect(messages).not.toBe(turn);
    expect(outcome).toEqual({ removedMessages: 0, removedTokens: 0, trimmed: false });
  });

  test('X7 one token over, the oldest result alone becomes a notice', () => {
    const { messages, outcome } = fitContext(turn, 0, price(turn) - 1, 1, 10);
    expect(messages).toEqual(turn.with(3, toolResultMessage('1', A_OUT)));
    expect(outcome).toEqual({ removedMessages: 0, removedTokens: 0, trimmed: true });
  });

  test('X7 then the next result, then the older arguments; the newest calls are spared', () => {
    const second = firstWith((messages) => messageText(messages[5] ?? userMessage('')) !== B);
    const first = turn.with(3, toolResultMessage('1', A_OUT));
    const results = first.with(5, toolResultMessage('2', A_OUT));
    expect(second).toEqual(results);
    const third = firstWith((messages) => messages[4] !== turn[4]);
    expect(third).toEqual(results.with(4, calls({ id: '2', name: 'write', args: ARGS_2 })));
  });

  test('X7 then the largest text keeps head and tail, here the newest result', () => {
    const cut = firstWith((messages) => messages[7] !== turn[7]);
    expect(cut[1]).toBe(turn[1]);
    const text = messageText(cut[7] ?? userMessage('')) ?? '';
    const [, head, bytes, tail] =
      /^(n+)\n\[context-trimmed\] (\d+) bytes left out to fit\n(n+)$/.exec(text) ?? [];
    expect((head?.length ?? 0) + (tail?.length ?? 0) + Number(bytes)).toBe(600);
    expect(Math.abs((head?.length ?? 0) - (tail?.length ?? 0))).toBeLessThanOrEqual(1);
    expect(argsOf(cut, '3')).toEqual({ text: 'm'.repeat(300) });
  });

  test('X7 then the newest arguments, and the newest result as a notice at the very last', () => {
    const given = firstWith((messages) => argsOf(messages, '3') !== argsOf(turn, '3'));
    expect(argsOf(given, '3')).toEqual(ARGS_3);
    expect(messageText(given.at(-1) ?? userMessage(''))).toContain(' 472 bytes left out to fit');
    const question = messageText(given.find(({ role }) => role === 'user') ?? userMessage(''));
    expect(question).toBe(
      `${'u'.repeat(64)}\n[context-trimmed] 172 bytes left out to fit\n${'u'.repeat(64)}`,
    );
    const notice = '[context-trimmed] result of 600 bytes left out to fit';
    const last = firstWith((messages) => messages.map(messageText).at(-1) === notice);
    expect(last.map(({ role }) => role)).toEqual(['system', 'system', 'user', 'assistant', 'tool']);
    expect(texts(last).slice(0, 2)).toEqual([
      'Be kind.',
      '[context-trimmed] 4 message(s), ~297 tokens, of the earlier conversation were cut to fit ' +
        'the context window. If you need details from them, ask the user.',
    ]);
  });

  test('X7 what cannot fit throws, and names the numbers', () => {
    const cannot = () => fitContext(turn, 20, 30, 1, 10);
    expect(cannot).toThrow(ContextBudgetError);
    expect(cannot).toThrow(
      new ContextBudgetError(
        'context budget exceeded: with everything left out that can be, the request needs ' +
          '170 tokens and the budget is 30',
      ),
    );
  });

  test('X7 what trimContext makes fit is left at that; a window of 0 sends everything', () => {
    const long = [userMessage(A), assistantText(A), ...turn.slice(1)];
    const window = price(turn) + 40;
    expect(fitContext(long, 0, window, 1, 8)).toEqual(trimContext(long, 0, window, 1, 8));
    expect(trimContext(long, 0, window, 1, 8).outcome.removedMessages).toBe(2);
    expect(fitContext(long, 0, 0, 1, 1).messages).toEqual(long);
  });
});

describe('what is kept', () => {
  test('X7 signed calls and signed reasoning stay verbatim, to the last', () => {
    const thought = { type: 'thinking', content: { text: 't'.repeat(90), meta: 'sig' } } as const;
    const signed: ToolCall = { id: '1', name: 'write', args: { text: A }, meta: { sig: 1 } };
    const bare: ToolCall = { id: '2', name: 'write', args: { text: A } };
    const step = calls(signed, bare);
    const asked = { ...step, content: [thought, ...step.content] };
    const results = [toolResultMessage('1', A), toolResultMessage('2', A)];
    const history = [userMessage('go'), asked, ...results];
    const least = 300;
    const { messages } = fitContext(history, 0, least, 1, 10);
    expect(messages[1]?.content).toEqual([
      thought,
      { type: 'tool_call', content: signed },
      {
        type: 'tool_call',
        content: {
          id: '2',
          name: 'write',
          args: { notice: '[context-trimmed] arguments of 411 bytes left out to fit' },
        },
      },
    ]);
    expect(() => fitContext(history, 0, 150, 1, 10)).toThrow(ContextBudgetError);
  });

  test('X7 words that start like a notice give like any others', () => {
    const notice = `${TRIMMED_MARKER_PREFIX} result of 9 bytes left out to fit`;
    const like = notice + ' and more'.repeat(900);
    const history = [
      userMessage(like),
      calls({ id: '1', name: 'read', args: {} }),
      toolResultMessage('1', like),
      calls({ id: '2', name: 'read', args: {} }),
      toolResultMessage('2', 'ok'),
    ];
    const { messages } = fitContext(history, 0, 2000, 1, 10);
    expect(messageText(messages[2] ?? userMessage(''))).toBe(
      '[context-trimmed] result of 8151 bytes left out to fit',
    );
    expect(price(fitContext(history, 0, 200, 1, 10).messages)).toBeLessThanOrEqual(200);
  });

  test('X7 older turns that cannot give are dropped, rather than nothing sent', () => {
    const picture: ImageRef = {
      attachment_id: 'ab'.repeat(32),
      media_type: 'image/png',
      width: 1500,
      height: 1000,
    };
    const older = [userMessageWithImages('look', [picture]), assistantText('I see.')];
    const history = [...older, userMessage('p'.repeat(9000))];
    const { messages, outcome } = fitContext(history, 0, 1000, 1, 10);
    expect(outcome).toEqual({ removedMessages: 2, removedTokens: 2096, trimmed: true });
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user']);
    const left = 1000 - price(messages);
    expect(left).toBeGreaterThanOrEqual(0);
    expect(left, 'the question is cut no further than needed').toBeLessThanOrEqual(30);
  });

  test('X7 many calls of one step: their results become notices when nothing else can give', () => {
    const ids = Array.from({ length: 40 }, (_, index) => String(index + 10));
    const step = calls(...ids.map((id): ToolCall => ({ id, name: 'read', args: {} })));
    const results = ids.map((id) => toolResultMessage(id, A));
    const { messages } = fitContext([userMessage('go'), step, ...results], 0, 1700, 1, 10);
    expect(messageText(messages[2] ?? userMessage(''))).toBe(A_OUT);
    expect(price(messages)).toBeLessThanOrEqual(1700);
  });

  test('X7 an estimator of another kind: groups go until the request and its marker fit', () => {
    const steps = Array.from({ length: 40 }, (_, index) => [
      calls({ id: String(index), name: 'read', args: {} }),
      toolResultMessage(String(index), A),
    ]).flat();
    const { messages } = withMessageEstimator(
      () => 1,
      () => fitContext([userMessage('go'), ...steps], 0, 10, 1, 10),
    );
    expect(messages).toHaveLength(10);
    expect(messages.slice(2)).toEqual(steps.slice(-8));
  });
});

test('X7 the price of a pass grows with the messages, counted in estimates', () => {
  const estimates = (steps: number, share: number): number => {
    const history = [userMessage('go'), ...toolTurn(steps)];
    const budget = Math.floor(price(history) * share);
    let count = 0;
    withMessageEstimator(
      (message) => {
        count += 1;
        return estimateMessageTokens(message);
      },
      () => fitContext(history, 0, budget, 1, 10),
    );
    return count;
  };
  for (const share of [0.9, 0.5, 0.1, 0.05]) {
    const counts = [100, 200, 400, 800, 1600].map((steps) => estimates(steps, share));
    counts.forEach((count, index) => {
      expect(count / (2 * 100 * 2 ** index), `${String(share)}: ${counts.join()}`).toBeLessThan(4);
    });
  }
  // long texts that all have to be cut, halved level by level
  const talk = (n: number): number => {
    const long = A.repeat(20);
    const history = Array.from({ length: n }, (_, index) => assistantText(String(index) + long));
    let count = 0;
    withMessageEstimator(
      (message) => {
        count += 1;
        return estimateMessageTokens(message);
      },
      () => fitContext([userMessage('go'), ...history], 0, 80 * n, 1, 10),
    );
    return count;
  };
  for (const n of [100, 400, 1600]) expect(talk(n) / n).toBeLessThan(2 + Math.log2(8000 / 128) + 1);
});

/** Steps of one call and a result of 2 KB each. */
function toolTurn(steps: number): Message[] {
  return Array.from({ length: steps }, (_, index) => {
    const id = `call_${String(index)}`;
    const args = { path: `src/file-${String(index)}.ts` };
    const result = JSON.stringify('x'.repeat(2046));
    return [calls({ id, name: 'read', args }), toolResultMessage(id, result)];
  }).flat();
}

/** A log whose projection grows with it, as a real one's does. */
class GrowingLog extends FakeSessionLog {
  readonly #projection = new IncrementalProjection();

  override append(row: SessionEvent): void {
    super.append(row);
    this.#projection.append(row);
  }

  override deriveMessages(): Message[] {
    return this.#projection.messages();
  }
}

/** A turn of `steps` tool calls in a window of 32,000 tokens, of which 25,600 may be filled. */
async function longTurn(steps: number) {
  const sizes: number[] = [];
  const system = 'You read files.';
  const log = new GrowingLog();
  const llm: Llm = {
    generate: (request, options) => {
      assertRequestValid(request);
      sizes.push(estimateTokens(system) + price(request.messages));
      const step = sizes.length;
      const args = { path: `src/file-${String(step)}.ts` };
      const called = callTools({ id: `call_${String(step)}`, name: 'read', args });
      const script = step <= steps ? called : say('All read.');
      return new ScriptedLlm([script]).generate(request, options);
    },
  };
  const config = { model: 'm', system_prompt: system, max_steps: 0, context_window_tokens: 32_000 };
  const loop = new DefaultAgentLoop({ ...defaults, ...config });
  const tools = new FakeToolRegistry({ read: () => 'x'.repeat(2048) });
  const outcome = await loop.runTurnOutcome(testContext({ llm, log, tools }), 'Read all files.');
  return { sizes, outcome, log };
}

const defaults = {
  max_parallel_tool_calls: 4,
  context_trim_threshold: 0.8,
  context_keep_recent: 10,
};

test('X7 one turn of 300 tool steps with 2 KB each fits at every step', async () => {
  const { sizes, outcome, log } = await longTurn(300);
  expect(outcome).toBe('completed');
  expect(sizes).toHaveLength(301);
  expect(Math.max(...sizes)).toBe(25_599);
  expect(Math.min(...sizes.slice(50)), 'the window is used').toBeGreaterThan(25_000);
  const results = log.rows.filter((row) => row.type === 'tool_result');
  expect(results.every(({ value }) => value === 'x'.repeat(2048)), 'the log is whole').toBe(true);
  expect(deriveMessagesFrom(log.rows)).toHaveLength(2 + 2 * 300);
});

test('X7 on the way to 2,000 steps every request fits; steps go before the newest result', () => {
  const steps = toolTurn(2000);
  for (let count = 40; count <= 2000; count += 40) {
    const history = [userMessage('go'), ...steps.slice(0, 2 * count)];
    const { messages, outcome } = fitContext(history, 0, 25_600, 1, 10);
    expect(price(messages)).toBeLessThanOrEqual(25_600);
    expect(price(messages)).toBeGreaterThan(Math.min(25_000, price(history) - 1));
    expect(outcome.removedMessages > 0).toBe(count > 600);
    expect(messages.find(({ role }) => role === 'user')).toBe(history[0]);
    if (count !== 600) expect(messages.slice(-2)).toEqual(history.slice(-2));
  }
});
