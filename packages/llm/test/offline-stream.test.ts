import {
  Context,
  isTerminalStreamEvent,
  LLM_SERVICE,
  messageText,
  messageToolCalls,
  mountPlugins,
  pluginNames,
  userMessage,
  userMessageWithImages,
  type ModelRequest,
  type StreamEvent,
} from '@celestea/core';
import { OfflineLlm, offlineLlmPlugin } from '@celestea/llm';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { converse, doneOf, eventsOf, folderOf, joined, requestOf } from './support/conversation.ts';

const QUESTION = 'which files mention AbortSignal, and what does README.md say about cancelling?';
const FILES = { 'README.md': '# demo\n\n## Cancelling\n\nPass an `AbortSignal`.\n' };

/** A request that wants tools, one that is answered from results, and ones that need neither. */
async function requests(): Promise<ModelRequest[]> {
  const { messages } = await converse([userMessage(QUESTION)], folderOf(FILES));
  return [
    requestOf([userMessage(QUESTION)]),
    requestOf(messages.slice(0, -1)),
    requestOf([userMessage('hello')]),
    requestOf([userMessage('what can you do?')], []),
    requestOf([]),
  ];
}

const construct = (options: unknown): unknown => Reflect.construct(OfflineLlm, [options]);
const plugin = (options: unknown): unknown => Reflect.apply(offlineLlmPlugin, null, [options]);

const kinds = (events: readonly StreamEvent[]): string =>
  events.map((event) => event.kind).join(' ').replace(/\b(\w+)( \1\b)+/g, '$1+');

afterEach(() => {
  vi.useRealTimers();
});

describe('the events of a reply', () => {
  it('are reasoning, then calls or text, one usage, and done', async () => {
    const seen = [];
    for (const request of await requests()) seen.push(kinds(await eventsOf(request)));
    expect(seen).toEqual([
      'thinking+ usage done',
      'thinking+ text+ usage done',
      'thinking+ text+ usage done',
      'thinking+ text+ usage done',
      'thinking+ text+ usage done',
    ]);
  });

  it('have exactly one terminal event, the last', async () => {
    for (const request of await requests()) {
      const events = await eventsOf(request);
      expect(events.filter(isTerminalStreamEvent)).toEqual(events.slice(-1));
    }
  });

  it('are the same for the same request', async () => {
    for (const request of await requests()) {
      expect(await eventsOf(request)).toEqual(await eventsOf(structuredClone(request)));
    }
  });

  it('join to exactly the text of the done message', async () => {
    for (const request of (await requests()).slice(1)) {
      const events = await eventsOf(request);
      expect(joined(events, 'text')).toBe(messageText(doneOf(events)));
      const said = /celestea's offline model: .*cannot reason.* key is set, or with --base-url/;
      expect(joined(events, 'text')).toMatch(said);
      expect(joined(events, 'thinking')).not.toBe('');
    }
  });

  it('put all calls into one message without text', async () => {
    const message = doneOf(await eventsOf(requestOf([userMessage(QUESTION)])));
    expect(message).toMatchObject({ role: 'assistant', tool_call_id: null });
    expect(messageToolCalls(message).map((call) => call.id)).toEqual(['offline-0', 'offline-1']);
    expect(message.content).toHaveLength(2);
  });

  it('estimate the usage at four characters a token', async () => {
    for (const request of await requests()) {
      const events = await eventsOf(request);
      const usages = events.flatMap((event) => (event.kind === 'usage' ? [event.usage] : []));
      const [usage] = usages;
      expect(usages).toHaveLength(1);
      const reasoning = Math.ceil(joined(events, 'thinking').length / 4);
      expect(usage?.reasoning_tokens).toBe(reasoning);
      expect(usage?.total_tokens).toBe(
        (usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0),
      );
      expect(usage?.completion_tokens).toBeGreaterThan(reasoning);
      expect(usage?.cache_read).toBe(0);
      const chars = JSON.stringify([request.system, request.messages, request.tools]).length;
      expect(usage?.prompt_tokens).toBeLessThan(chars / 4);
      expect(usage?.prompt_tokens).toBeGreaterThan(chars / 16);
    }
  });

  it('count a longer prompt as more', async () => {
    const usageOf = async (text: string): Promise<number> => {
      const events = await eventsOf(requestOf([userMessage(text)]));
      return events.reduce((n, e) => (e.kind === 'usage' ? e.usage.prompt_tokens : n), 0);
    };
    const more = (await usageOf(`hello${' '.repeat(400)}`)) - (await usageOf('hello'));
    expect(more).toBe(100);
  });

  it('stream in small pieces, without half characters', async () => {
    const long = '😀'.repeat(900);
    const events = await eventsOf(requestOf([userMessage(`read "${long}.md"`)]));
    for (const event of events) {
      if (event.kind !== 'text' && event.kind !== 'thinking') continue;
      expect(event.text.length).toBeLessThanOrEqual(201);
      expect(event.text).not.toMatch(/\p{Cs}/u);
    }
  });

  it('say that pictures cannot be looked at', async () => {
    const ref = { attachment_id: 'a'.repeat(64), media_type: 'image/png', width: 1, height: 1 };
    const request = requestOf([
      userMessageWithImages('hello', [{ ...ref, media_type: 'image/png' }]),
    ]);
    expect(joined(await eventsOf(request), 'text')).toContain('I cannot look at pictures');
  });

  it('leave the request as it was', async () => {
    for (const request of await requests()) {
      const before = structuredClone(request);
      await eventsOf(request);
      expect(request).toEqual(before);
    }
  });
});

describe('abort', () => {
  it('gives interrupted alone when it came before', async () => {
    for (const request of await requests()) {
      const events = await eventsOf(request, new OfflineLlm({ delayMs: 5 }), AbortSignal.abort());
      expect(events).toEqual([{ kind: 'interrupted' }]);
    }
  });

  it('ends the stream at whatever event it comes', async () => {
    for (const request of await requests()) {
      const whole = await eventsOf(request);
      for (let at = 1; at <= whole.length; at += 1) {
        const abort = new AbortController();
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
    const request = requestOf([userMessage('hello')]);
    const whole = await eventsOf(request);
    const pieces = whole.filter(({ kind }) => kind === 'thinking' || kind === 'text').length;
    for (let at = 1; at < pieces; at += 1) {
      const abort = new AbortController();
      const added = vi.spyOn(abort.signal, 'addEventListener');
      const removed = vi.spyOn(abort.signal, 'removeEventListener');
      const stream = await new OfflineLlm({ delayMs: 1000 }).generate(request, abort);
      const events = stream[Symbol.asyncIterator]();
      await events.next();
      for (let seen = 1; seen < at; seen += 1) {
        const next = events.next();
        await vi.advanceTimersByTimeAsync(1000);
        await next;
      }
      const waiting = events.next();
      await Promise.resolve();
      expect(vi.getTimerCount()).toBe(1);
      abort.abort();
      expect(vi.getTimerCount()).toBe(0);
      expect(await waiting).toEqual({ done: false, value: { kind: 'interrupted' } });
      expect((await events.next()).done).toBe(true);
      expect(removed).toHaveBeenCalledTimes(added.mock.calls.length);
    }
  });
});

describe('delayMs', () => {
  it('stands between the pieces alone, and the events are the same', async () => {
    vi.useFakeTimers();
    const request = requestOf([userMessage('hello')]);
    const whole = await eventsOf(request);
    const pieces = whole.filter(({ kind }) => kind === 'thinking' || kind === 'text').length;
    const start = Date.now();
    const slow = eventsOf(request, new OfflineLlm({ delayMs: 7 }), new AbortController().signal);
    await vi.runAllTimersAsync();
    expect(await slow).toEqual(whole);
    expect(Date.now() - start).toBe((pieces - 1) * 7);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leaves no timer when the reader stops early', async () => {
    vi.useFakeTimers();
    const request = requestOf([userMessage('hello')]);
    for await (const event of await new OfflineLlm({ delayMs: 7 }).generate(request)) {
      if (event.kind === 'thinking') break;
    }
    expect(vi.getTimerCount()).toBe(0);
  });

  it('uses no timer when it is 0', async () => {
    vi.useFakeTimers();
    expect((await eventsOf(requestOf([userMessage('hello')]))).at(-1)?.kind).toBe('done');
  });

  const wrong: [unknown, string][] = [
    [{ delayMs: -1 }, 'got -1'],
    [{ delayMs: Number.NaN }, 'got NaN'],
    [{ delayMs: Infinity }, 'got Infinity'],
    [{ delayMs: 2 ** 31 }, 'got 2147483648'],
    [{ delayMs: '5' }, 'got "5"'],
    [{ delayMs: null }, 'got null'],
  ];
  it.each(wrong)('is checked where it enters: %j', (options, came) => {
    const expected = `delayMs must be a number of milliseconds from 0 to 2147483647, ${came}`;
    expect(() => construct(options)).toThrow(new TypeError(expected));
    expect(() => plugin(options)).toThrow(TypeError);
  });

  it.each([null, 5, 'fast', []])('refuses options that are no object: %j', (options) => {
    expect(() => construct(options)).toThrow(/options must be an object, got/);
  });

  it.each([undefined, {}, { delayMs: undefined }, { delayMs: 0 }, { delayMs: 2.5 }])(
    'takes %j',
    (options) => {
      expect(() => construct(options)).not.toThrow();
    },
  );
});

describe('offlineLlmPlugin', () => {
  it('provides the model', async () => {
    const offline = offlineLlmPlugin({ delayMs: 0 });
    const ctx = mountPlugins(Context.root(), [offline]);
    const llm = ctx.require(LLM_SERVICE);
    expect(llm).toBeInstanceOf(OfflineLlm);
    expect(pluginNames([offline])).toEqual(['celestea.llm.offline']);
    expect((await eventsOf(requestOf([userMessage('hello')]), llm)).at(-1)?.kind).toBe('done');
  });
});
