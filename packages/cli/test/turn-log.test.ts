import { FakeSessionLog } from '@celestea/agent-loop/testing';
import { expect, it } from 'vitest';

import { TurnLog } from '../src/turn-log.ts';

it('knows its last turn without reading a row', () => {
  const inner = new FakeSessionLog();
  inner.append({ type: 'turn_start', id: 'turn-0' });
  let reads = 0;
  const log = new TurnLog(
    Object.assign(inner, {
      events: () => {
        reads += 1;
        return [];
      },
    }),
  );
  expect(log.lastTurnId()).toBe('');
  const id = log.nextTurnId();
  expect(log.lastTurnId()).toBe(id);
  expect(log.lastTurnId()).toBe(id);
  expect(reads).toBe(0);
});

it('is the log that it wraps', async () => {
  const inner = new FakeSessionLog();
  const log = new TurnLog(inner);
  log.append({ type: 'user_message', text: 'hello' });
  await log.flush();
  expect(log.events()).toEqual(inner.events());
  expect(log.deriveMessages()).toEqual(inner.deriveMessages());
  log.clear();
  expect(inner.events()).toEqual([]);
});
