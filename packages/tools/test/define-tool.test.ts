import { defineTool, DefaultToolRegistry, type ToolDefinition } from '@celestea/tools';
import { expect, test, vi } from 'vitest';

import { call } from './support/doubles.ts';

const good: ToolDefinition = {
  name: 'echo',
  description: 'Says it again.',
  parameters: { type: 'object' },
  execute: (args) => args,
};

test('C3.5 defineTool makes a tool of its parts', async () => {
  const tool = defineTool(good);
  expect(tool.spec()).toEqual({
    name: 'echo',
    description: 'Says it again.',
    parameters: { type: 'object' },
  });
  expect(tool.spec()).toBe(tool.spec());
  expect(await tool.execute({ a: 1 })).toEqual({ a: 1 });
  expect(['executeWith' in tool, 'readOnly' in tool]).toEqual([false, false]);
  expect(defineTool({ ...good, readOnly: true, render: String })).toHaveProperty('readOnly', true);
});

test('C3.5 execute gets the arguments and the options, and a sync throw rejects', async () => {
  const execute = vi.fn(() => {
    throw new Error('no');
  });
  const { signal } = new AbortController();
  const tool = defineTool({ ...good, execute });
  await expect(tool.execute('x', { signal })).rejects.toThrow('no');
  await expect(tool.execute('x')).rejects.toThrow('no');
  expect(execute.mock.calls).toEqual([
    ['x', { signal }],
    ['x', {}],
  ]);
});

test('C3.3 render gives the form for people', async () => {
  const registry = new DefaultToolRegistry();
  registry.register(
    defineTool({
      ...good,
      execute: () => ({ lines: 3 }),
      render: ({ lines }) => `${String(lines)} lines`,
    }),
  );
  expect(await registry.dispatch(call('echo'))).toMatchObject({
    value: { lines: 3 },
    render: '3 lines',
    error: null,
  });
});

test('C3.3 a render that fails or gives no text loses the form, not the result', async () => {
  const fail = (): string => {
    throw new Error('ugly');
  };
  const late = (): never => Promise.reject(new Error('nobody waits for it')) as never;
  for (const render of [fail, late, () => 5 as never]) {
    const tool = defineTool({ ...good, execute: () => 'done', render });
    expect(await tool.executeWith?.(call('echo'))).toEqual({ value: 'done', render: null });
  }
});

test('C3.5 a class instance can be a definition', async () => {
  class Counter implements ToolDefinition<number> {
    name = 'count';
    description = '';
    parameters = {};
    #count = 0;
    execute(): number {
      return (this.#count += 1);
    }
    render(value: number): string {
      return `${String(value)} of ${String(this.#count)}`;
    }
  }
  const tool = defineTool(new Counter());
  expect(await tool.executeWith?.(call('count'))).toEqual({ value: 1, render: '1 of 1' });
});

test.each<[Record<string, unknown> | null, string]>([
  [null, 'defineTool: definition: expected an object, got null'],
  [{ ...good, name: '' }, 'defineTool: name: expected a non-empty string without spaces, got ""'],
  [{ ...good, name: 5 }, 'defineTool: name: expected a non-empty string without spaces, got 5'],
  [{ ...good, description: undefined },
    'defineTool: description: expected a string, got undefined'],
  [{ ...good, parameters: 'none' },
    'defineTool: parameters: expected a JSON Schema object, got "none"'],
  [{ ...good, execute: null }, 'defineTool: execute: expected a function, got null'],
  [{ ...good, readOnly: 'yes' },
    'defineTool: readOnly: expected true, false or nothing, got "yes"'],
  [{ ...good, render: 'text' }, 'defineTool: render: expected a function or nothing, got "text"'],
])('C3.5 an option of the wrong type is a TypeError that names it (%#)', (definition, text) => {
  expect(() => defineTool(definition as never)).toThrow(new TypeError(text));
});
