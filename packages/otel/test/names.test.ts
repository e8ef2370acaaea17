import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { expect, test } from 'vitest';

import * as names from '../src/names.ts';
import * as ownNames from '../src/own-names.ts';

test.each(Object.entries(names))('%s is what the conventions call it', (name, value) => {
  expect({ ...conventions }).toHaveProperty(name, value);
});

test.each(Object.values(ownNames))('%s is no name of the conventions', (value) => {
  expect(value).toMatch(/^celestea\./);
  expect(Object.values(conventions)).not.toContain(value);
});
