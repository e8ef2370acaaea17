import { readdirSync, readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

test('L2.4 one place in the sources writes turn_end', () => {
  const sources = new URL('../src/', import.meta.url);
  const places = readdirSync(sources)
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => readFileSync(new URL(file, sources), 'utf8').split('\n'))
    .filter((line) => line.includes("type: 'turn_end'"));
  expect(places).toHaveLength(1);
});
