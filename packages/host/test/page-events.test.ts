import { SSE_EVENT_NAMES } from '@celestea/core';
import { expect, test, vi } from 'vitest';

import { listenToEvents } from '../page/events.ts';

type Handler = (message: { readonly data: string }) => void;

/** What the page asks of a browser's `EventSource`. */
class Source {
  static readonly handlers = new Map<string, Handler>();

  addEventListener(name: string, handler: Handler): void {
    Source.handlers.set(name, handler);
  }

  close(): void {
    Source.handlers.clear();
  }
}

test('C5.7 the page hears every event that a host may send', () => {
  vi.stubGlobal('EventSource', Source);
  const heard: string[] = [];
  const ignore = (): void => undefined;
  const close = listenToEvents('a', -1, {
    onOpen: ignore,
    onLost: ignore,
    onRefused: ignore,
    onEvent: ({ name, session, turn, seq }) => {
      heard.push([name, session, turn, seq].join());
    },
  });
  expect([...Source.handlers.keys()]).toEqual(SSE_EVENT_NAMES);
  for (const handler of Source.handlers.values()) {
    handler({ data: '{"v":1,"session":"a","turn":"turn-0","seq":7,"payload":{}}' });
  }
  expect(heard).toEqual(SSE_EVENT_NAMES.map((name) => `${name},a,turn-0,7`));
  close();
  vi.unstubAllGlobals();
});
