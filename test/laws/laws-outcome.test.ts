import { expect, test } from 'vitest';

import { holds } from './laws.ts';
import { courseFault } from './model-match.ts';

test('L2.5 L4.1 L4.5 X6 X8 X13 every turn keeps to a course that its world allows', async () => {
  await holds((ran) => {
    expect(courseFault(ran)).toBeNull();
  });
});
