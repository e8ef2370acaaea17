import { LlmError, userMessage, type StreamEvent } from '@celestea/core';
import {
  LLM_CONTRACT_REPLIES,
  LLM_SCENARIOS,
  type LlmContractReply,
  type LlmScenario,
} from '@celestea/core/contracts';
import { describe, expect, it, test } from 'vitest';

import { ArrangedLlm } from './arranged-llm.ts';
import {
  asking,
  calls,
  ENDED,
  events,
  hearing,
  messages,
  reading,
  throwing,
  usage,
} from './bent-llm.ts';
import { faultsOf, registered, type Fault } from './llm-contract-run.ts';
import {
  AGAIN,
  AT_ONCE,
  CALLS,
  CUT,
  ENDS,
  IDS,
  JSON_ONLY,
  KNOWN,
  LATER,
  MESSAGE,
  NO_MORE,
  ONE_DONE,
  REASON,
  SENT,
  SIGNED_CALLS,
  SIGNED_THOUGHT,
  TAKES_BACK,
  THINKS,
  UNCHANGED,
  USAGE,
} from './llm-contract-titles.ts';

const WHOLE_REPLIES: readonly Fault[] = [
  ['an unknown kind', events('text', (event) => [{ kind: 'ping' }, event]), KNOWN],
  [
    'thoughts that are no text',
    events('thinking', (event) => [{ ...event, text: 7 }]),
    ['words: C2.2 brings known events alone', THINKS, SIGNED_THOUGHT],
  ],
  [
    'thoughts of its own',
    events('thinking', (event) => [{ ...event, text: `${event.text}?` }]),
    [THINKS, SIGNED_THOUGHT],
  ],
  ['two dones', events('done', (event) => [event, event]), ENDS],
  ['words after done', events('done', (event) => [event, { kind: 'text', text: '' }]), ENDS],
  ['a failure after done', events('done', (event) => [event, { kind: 'interrupted' }]), ENDS],
  [
    'no done',
    events('done', () => []),
    [
      ...[...ENDS, ...MESSAGE, ...REASON, AGAIN, AT_ONCE, CALLS, IDS],
      ...[SIGNED_CALLS, JSON_ONLY, TAKES_BACK, CUT],
    ],
  ],
  [
    'other words',
    events('text', ({ text }) => [{ kind: 'text', text: text.toUpperCase() }]),
    [...SENT, ...MESSAGE, AGAIN, AT_ONCE, UNCHANGED, TAKES_BACK, LATER, NO_MORE],
  ],
  [
    'a message with other words',
    messages((told) => ({ ...told, content: [...told.content, { type: 'text', content: '!' }] })),
    [...MESSAGE, AGAIN, AT_ONCE],
  ],
  ['a message from the user', messages((told) => ({ ...told, role: 'user' })), MESSAGE],
  ['a message that answers a call', messages((told) => ({ ...told, tool_call_id: 'a' })), MESSAGE],
  ['usage twice', events('usage', (event) => [event, event]), USAGE],
  ['no usage', events('usage', () => []), USAGE],
  ['usage of another reply', usage((all) => ({ ...all, prompt_tokens: 1 })), USAGE],
  ['a counter that is NaN', usage((all) => ({ ...all, cache_read: NaN })), USAGE],
  ['a counter below zero', usage((all) => ({ ...all, reasoning_tokens: -1 })), USAGE],
  ['a counter that is missing', usage((all) => ({ ...all, cache_read: undefined })), USAGE],
  ['another reason', events('done', (event) => [{ ...event, finish: 'other' }]), [...REASON, CUT]],
  ['no reason', events('done', (event) => [{ ...event, finish: undefined }]), [CUT]],
];

const REQUESTS: readonly Fault[] = [
  [
    'a request that it changes',
    asking((ask, request) => {
      request.tools[0] = { name: 'mine', description: '', parameters: {} };
      return ask();
    }),
    [UNCHANGED],
  ],
  [
    'a request that it changes for a while',
    asking((ask, request) => {
      request.messages.length = request.messages.push(userMessage('mine')) - 1;
      return ask();
    }),
    [UNCHANGED],
  ],
  [
    'one answer and no other',
    (llm) => {
      let asked = 0;
      const once = asking((ask) => ((asked += 1) === 1 ? ask() : throwing(new Error('used'))));
      return once(llm);
    },
    [AGAIN, AT_ONCE, UNCHANGED, TAKES_BACK, LATER],
  ],
  [
    'one place for the replies to all requests',
    (llm) => {
      let current: AsyncIterator<unknown> | undefined;
      return reading((inner) => {
        const bent = { next: () => (current === inner ? inner.next() : ENDED) };
        current = inner;
        return bent;
      })(llm);
    },
    [AT_ONCE],
  ],
];

const cycle: { self?: unknown } = {};
cycle.self = cycle;
const NO_JSON: readonly (readonly [what: string, meta: unknown])[] = [
  ['a Map', new Map([['a', 1]])],
  ['a cycle', cycle],
  ['a bigint', 1n],
  ['a function', () => 1],
  ['an object with nothing in a field', { at: undefined }],
  ['NaN', NaN],
];

const CALLS_AND_SIGNATURES: readonly Fault[] = [
  [
    'calls in another order',
    messages((told) => ({ ...told, content: told.content.toReversed() })),
    [CALLS],
  ],
  ['arguments as text', calls((call) => ({ ...call, args: JSON.stringify(call.args) })), [CALLS]],
  [
    'null for empty arguments',
    calls((call) => (call.id === 'call_2' ? { ...call, args: null } : call)),
    [CALLS],
  ],
  [
    'a message for each call',
    events('done', (event) => {
      const [words, first, ...others] = event.message.content;
      return [[words, first], ...others.map((one) => [one])].map((content) => ({
        ...event,
        message: { ...event.message, content: content.filter((block) => block !== undefined) },
      }));
    }),
    [`calls: ${ONE_DONE}`, CALLS],
  ],
  ['empty ids', calls((call) => ({ ...call, id: '' })), [IDS]],
  ['one id for all', calls((call) => ({ ...call, id: 'call' })), [IDS]],
  ['no ids', calls((call) => ({ ...call, id: undefined })), [IDS]],
  [
    'reasoning without its signature',
    events('thinking', ({ kind, text }) => [{ kind, text }]),
    [SIGNED_THOUGHT],
  ],
  ['calls without signatures', calls((call) => ({ ...call, meta: undefined })), [SIGNED_CALLS]],
  ...NO_JSON.map(([what, meta]): Fault => [
    `signatures that are no JSON: ${what}`,
    events('thinking', (event) => ['meta' in event ? { ...event, meta } : event]),
    [JSON_ONLY],
  ]),
  [
    'call signatures that are no JSON',
    calls((call) => ('meta' in call ? { ...call, meta: new Set([1]) } : call)),
    [JSON_ONLY],
  ],
  [
    'refusing what it signed',
    asking((ask, request) => {
      const blocks = request.messages.flatMap(({ content }) => content);
      return blocks.some(({ type }) => type === 'thinking') ? throwing(new LlmError('no')) : ask();
    }),
    [TAKES_BACK],
  ],
];

describe('llmContract', () => {
  test.each([...WHOLE_REPLIES, ...REQUESTS, ...CALLS_AND_SIGNATURES])(
    'is broken by %s',
    async (_, bend, fail, hang = []) => {
      expect(await faultsOf(bend)).toEqual({ fail: fail.toSorted(), hang: hang.toSorted() });
    },
  );

  it('registers a test of its own title for each', () => {
    const titles = registered(() => throwing('not made')).map(({ title }) => title);
    expect(new Set(titles).size).toBe(titles.length);
    for (const title of titles) expect(title).toMatch(/^llm, \w+: (C\d\.\d |X\d+ )+\w/);
  });

  it.each(LLM_SCENARIOS)('holds an Llm that claims %s to that alone', (scenario) => {
    const titles = registered(() => throwing('not made'), [scenario]).map(({ title }) => title);
    expect(titles.filter((title) => !title.startsWith(`llm, ${scenario}: `))).toEqual([]);
    expect(titles).not.toEqual([]);
  });

  it('tells what is to be sent, and asks for no more than that', async () => {
    const made: { scenario: LlmScenario; model: ArrangedLlm }[] = [];
    const tests = registered((scenario, replies) => {
      const model = new ArrangedLlm(replies);
      made.push({ scenario, model });
      return { llm: model };
    });
    for (const { run } of tests) await run();
    expect(made.length).toBe(tests.length);
    for (const { scenario, model } of made) {
      expect(model.replies).toBe(LLM_CONTRACT_REPLIES[scenario]);
      expect(model.asked).toBeGreaterThan(0);
      expect(model.asked).toBeLessThanOrEqual(model.replies.length);
    }
  });

  it('disposes of an Llm after its test, also when that fails, and waits for it', async () => {
    const order: string[] = [];
    const broken = { generate: () => Promise.reject(new Error('no')) };
    const [first] = registered(() => ({
      llm: broken,
      dispose: async () => {
        await new Promise(setImmediate);
        order.push('disposed');
      },
    }));
    await first?.run().catch(() => order.push('failed'));
    expect(order).toEqual(['disposed', 'failed']);
  });

  it('asks what it is told to ask, and expects what it is told to expect', async () => {
    const request = {
      model: 'mine',
      system: null,
      messages: [],
      tools: [{ name: 'mine', description: '', parameters: {} }],
      max_tokens: null,
      temperature: 1,
    };
    const before = structuredClone(request);
    const [reply] = LLM_CONTRACT_REPLIES.cut;
    const replies = reply === undefined ? [] : [reply, reply];
    const seen: unknown[] = [];
    const asked = asking((ask, given) => {
      seen.push(given.model);
      given.tools.length = 0;
      return ask();
    });
    const make = () => ({ llm: asked(new ArrangedLlm(replies)), request, replies });
    for (const { run, title } of registered(make, ['words'])) {
      if (!title.includes('C1.5')) await run();
    }
    expect(new Set(seen)).toEqual(new Set(['mine']));
    expect(request).toEqual(before);
  });

  it('aborts a silent model only when the request is with it', async () => {
    const order: string[] = [];
    const heard = hearing((model, signal) => {
      order.push('asked');
      const stop = model.listen(signal, () => {
        stop();
        order.push('aborted');
      });
    });
    const reached = async () => {
      await Promise.resolve();
      order.push('reached');
    };
    const make = (_: unknown, replies: readonly LlmContractReply[]) => ({
      llm: heard(new ArrangedLlm(replies)),
      reached,
    });
    const tests = registered(make, ['silent']);
    for (const { run } of tests) await run();
    expect(order).toEqual(tests.flatMap(() => ['asked', 'reached', 'aborted']));
  });

  const unfit = ['words', 'calls', 'signed', 'cut', 'refused', 'busy', 'torn'] as const;
  it.each(unfit)('says so when the replies it is given do not fit %s', async (scenario) => {
    const replies = [{ ends: 'never', pieces: [] }] as const;
    const tests = registered((_, sent) => ({ llm: new ArrangedLlm(sent), replies }), [scenario]);
    const looking = tests.find(({ title }) => /sent|status|reasoning/.test(title));
    await expect(looking?.run()).rejects.toThrow(/^replies\[0\]: expected one that ends "\w+"/);
  });

  it('ends the test of a reply that goes on for ever', async () => {
    const reply: IteratorResult<StreamEvent> = { value: { kind: 'text', text: '' } };
    const iterator = { next: () => Promise.resolve(reply) };
    const generate = () => Promise.resolve({ [Symbol.asyncIterator]: () => iterator });
    const [first] = registered(() => ({ llm: { generate } }));
    await expect(first?.run()).rejects.toThrow('the reply does not end');
  });
});
