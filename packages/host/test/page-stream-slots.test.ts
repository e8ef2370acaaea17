import { expect, test } from 'vitest';

import { takeStreamSlot, type Locks } from '../page/stream-slots.ts';

/** Locks as a browser keeps them for all tabs of an origin. */
class SharedLocks implements Locks {
  readonly held = new Set<string>();

  async request(
    name: string,
    _options: { readonly ifAvailable: true },
    work: (lock: object | null) => Promise<void>,
  ): Promise<void> {
    if (this.held.has(name)) {
      await work(null);
      return;
    }
    this.held.add(name);
    await work({ name });
    this.held.delete(name);
  }
}

test('four tabs hold a stream, the next gets one when one of them lets go', async () => {
  const locks = new SharedLocks();
  const taken = [];
  for (let tab = 0; tab < 4; tab += 1) taken.push(await takeStreamSlot(locks));
  expect(taken.every((release) => release !== null)).toBe(true);
  expect(locks.held.size).toBe(4);
  expect(await takeStreamSlot(locks)).toBeNull();
  taken[1]?.();
  await Promise.resolve();
  await Promise.resolve();
  expect(locks.held.size).toBe(3);
  expect(await takeStreamSlot(locks)).not.toBeNull();
  expect(locks.held.size).toBe(4);
});

test('tabs that ask at the same time get no more than there are', async () => {
  const locks = new SharedLocks();
  const asked = await Promise.all(Array.from({ length: 9 }, () => takeStreamSlot(locks)));
  expect(asked.filter((release) => release !== null)).toHaveLength(4);
});

test('without locks, or where they are refused, nothing is counted', async () => {
  const refusing: Locks = { request: () => Promise.reject(new Error('refused')) };
  for (const locks of [null, refusing]) {
    const release = await takeStreamSlot(locks);
    expect(release).not.toBeNull();
    release?.();
  }
});
