import {
  Context,
  isTerminalStreamEvent,
  LLM_SERVICE,
  messageText,
  mountPlugins,
  userMessage,
  userMessageWithImages,
  type ModelRequest,
  type StreamEvent,
} from '@celestea/core';
import { OfflineLlm, offlineLlmPlugin } from '@celestea/offline';
import { afterEach, describe, expect, it, test, vi } from 'vitest';

import { doneOf, eventsOf, joined, requestOf, talk } from './support/conversation.ts';

/** One that wants tools, one that is answered from results, and ones that need neither. */
async function requests(): Promise<ModelRequest[]> {
  const { messages } = await talk('read a.md and list src', () => 'Error: no');
  return [
    requestOf([userMessage('read a.md and list src')]),
    requestOf(messages.slice(0, -1)),
    requestOf([userMessage('hello')], []),
    requestOf([]),
  ];
}

afterEach(() => {
  vi.useRealTimers();
});

describe('the events of a reply', () => {
  it('are reasoning, text piece by piece or calls, one usage, and done', async () => {
    for (const request of await requests()) {
      const events = await eventsOf(request);
      const kinds = events.map(({ kind }) => kind).join(' ');
      expect(kinds).toMatch(/^(?:thinking ){5,}(?:text ){0,}usage done$/);
      expect(events.filter(isTerminalStreamEvent)).toHaveLength(1);
      expect(joined(events, 'text')).toBe(messageText(doneOf(events)) ?? '');
      expect(await eventsOf(structuredClone(request))).toEqual(events);
    }
  });

  it('come in small pieces, without half characters', async () => {
    const events = await eventsOf(requestOf([userMessage(`read "${'😀'.repeat(900)}.md"`)], []));
    const pieces = events.flatMap((event) => ('text' in event ? [event.text] : []));
    expect(pieces.length).toBeGreaterThan(50);
    for (const piece of pieces) {
      expect(piece.length).toBeLessThan(210);
      expect(piece).not.toMatch(/\p{Cs}/u);
    }
  });

  it('estimate the usage, and count a longer prompt as more', async () => {
    const promptOf = async (text: string): Promise<number> => {
      const events = await eventsOf(requestOf([userMessage(text)]));
      const [usage] = events.flatMap((event) => (event.kind === 'usage' ? [event.usage] : []));
      const { prompt_tokens = 0, completion_tokens = 0, total_tokens } = usage ?? {};
      expect(completion_tokens).toBeGreaterThan(usage?.reasoning_tokens ?? 0);
      expect(total_tokens).toBe(prompt_tokens + completion_tokens);
      return prompt_tokens;
    };
    expect((await promptOf(`hello${' '.repeat(400)}`)) - (await promptOf('hello'))).toBe(100);
  });

  it('say that pictures were left aside', async () => {
    const ref = { attachment_id: 'a'.repeat(64), media_type: 'image/png', width: 1, height: 1 } as const;
    const request = requestOf([userMessageWithImages('hello', [ref])], []);
    expect(joined(await eventsOf(request), 'text')).toContain('I cannot look at pictures');
  });
});

describe('abort', () => {
  it('ends the stream at whatever event it comes, and before the first', async () => {
    for (const request of await requests()) {
      const whole = await eventsOf(request);
      for (let at = 0; at <= whole.length; at += 1) {
        const abort = new AbortController();
        if (at === 0) abort.abort();
        const events: StreamEvent[] = [];
        for await (const event of await new OfflineLlm().generate(request, abort)) {
          events.push(event);
          if (events.length === at) abort.abort();
        }
        const rest: StreamEvent[] = at === whole.length ? [] : [{ kind: 'interrupted' }];
        expect(events).toEqual([...whole.slice(0, at), ...rest]);
      }
    }
  });

  it('ends a delay at once and leaves no timer and no listener', async () => {
    vi.useFakeTimers();
    const abort = new AbortController();
    const added = vi.spyOn(abort.signal, 'addEventListener');
    const removed = vi.spyOn(abort.signal, 'removeEventListener');
    const llm = new OfflineLlm({ delayMs: 1000 });
    const stream = await llm.generate(requestOf([userMessage('hello')]), abort);
    const events = stream[Symbol.asyncIterator]();
    await events.next();
    const second = events.next();
    await vi.advanceTimersByTimeAsync(1000);
    await second;
    const waiting = events.next();
    await Promise.resolve();
    expect(vi.getTimerCount()).toBe(1);
    abort.abort();
    expect(vi.getTimerCount()).toBe(0);
    expect(await waiting).toEqual({ done: false, value: { kind: 'interrupted' } });
    expect((await events.next()).done).toBe(true);
    expect(removed).toHaveBeenCalledTimes(added.mock.calls.length);
  });
});

describe('options', () => {
  it.each([
    [null, 'options: expected an object, got null'],
    [[], 'options: expected an object, got an array'],
    ...[-1, Number.NaN, 2 ** 31, null].map((delayMs): [unknown, string] => [
      { delayMs },
      `delayMs: expected milliseconds from 0 to 2147483647, got ${String(delayMs)}`,
    ]),
  ])('are checked where they enter: %j', (options, message) => {
    const make = [
      (): unknown => Reflect.construct(OfflineLlm, [options]),
      (): unknown => Reflect.apply(offlineLlmPlugin, null, [options]),
    ];
    for (const each of make) expect(each).toThrow(new TypeError(message));
  });

  test('the delay stands between pieces alone, and the events are the same', async () => {
    vi.useFakeTimers();
    const request = requestOf([userMessage('hello')]);
    const whole = await eventsOf(request);
    const start = Date.now();
    const slow = eventsOf(request, new OfflineLlm({ delayMs: 7 }));
    await vi.runAllTimersAsync();
    expect(await slow).toEqual(whole);
    const pieces = whole.filter((event) => 'text' in event).length;
    expect(Date.now() - start).toBe((pieces - 1) * 7);
  });
});

test('the plugin provides the model', () => {
  const ctx = mountPlugins(Context.root(), [offlineLlmPlugin()]);
  expect(ctx.require(LLM_SERVICE)).toBeInstanceOf(OfflineLlm);
});
