import fc from 'fast-check';
import { expect, test } from 'vitest';

import { Fifo } from '../src/fifo.ts';

test('X5 items come out in the order they went in, however far the reader is behind', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 6000 }), (puts) => {
      const fifo = new Fifo<number>();
      const model: number[] = [];
      puts.forEach((put, index) => {
        if (put) {
          fifo.push(index);
          model.push(index);
        } else expect(fifo.shift()).toBe(model.shift());
      });
      while (model.length > 0) expect(fifo.shift()).toBe(model.shift());
      expect(fifo.shift()).toBeUndefined();
    }),
    { numRuns: 50 },
  );
});

test('X5 a taken item is not kept while a reader stays one behind', async () => {
  const fifo = new Fifo<object>();
  fifo.push({});
  const taken: WeakRef<object>[] = [];
  for (let index = 0; index < 5000; index += 1) {
    fifo.push({});
    const item = fifo.shift();
    if (item !== undefined) taken.push(new WeakRef(item));
  }
  const { setFlagsFromString } = await import('node:v8');
  const { runInNewContext } = await import('node:vm');
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  expect(taken.filter((item) => item.deref() !== undefined).length).toBeLessThan(10);
});
