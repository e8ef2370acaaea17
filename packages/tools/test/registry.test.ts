import { DefaultToolRegistry } from '@celestea/tools';
import type { Tool, ToolExecOutcome, ToolInput, ToolSpec } from '@celestea/core';
import { describe, expect, test, vi } from 'vitest';

import { call, guardOf, toolOf } from './support/doubles.ts';

const registryOf = (...tools: Tool[]): DefaultToolRegistry => {
  const registry = new DefaultToolRegistry();
  for (const tool of tools) registry.register(tool);
  return registry;
};

const toolWithSpec = (spec: unknown): Tool => ({
  spec: () => spec as ToolSpec,
  execute: () => Promise.resolve(null),
});

describe('register and schemas', () => {
  test('C3.7 the last tool of a name wins', async () => {
    const [first, second] = [toolOf('echo', () => 1), toolOf('echo', () => 2)];
    const registry = registryOf(first, second);
    expect(registry.get('echo')).toBe(second);
    expect(registry.schemas()).toHaveLength(1);
    expect((await registry.dispatch(call('echo'))).value).toBe(2);
  });

  test('C3.1 schemas are sorted by name in code-unit order', () => {
    const names = registryOf(...['b', 'a', 'B', 'ä', 'a_1'].map((name) => toolOf(name))).schemas();
    expect(names.map(({ name }) => name)).toEqual(['B', 'a', 'a_1', 'b', 'ä']);
  });

  test('C3.7 schemas hand out a fresh array of the same objects while nothing changes', () => {
    const spec = vi.fn(() => ({ name: 'a', description: '', parameters: {} }));
    const registry = registryOf({ spec, execute: () => Promise.resolve(null) });
    const [one, two] = [registry.schemas(), registry.schemas()];
    expect(one).not.toBe(two);
    expect(one[0]).toBe(two[0]);
    one.pop();
    expect(registry.schemas()).toHaveLength(1);
    registry.register(toolOf('b'));
    expect(registry.schemas().map(({ name }) => name)).toEqual(['a', 'b']);
    expect(registry.schemas()[0]).toBe(two[0]);
    expect(spec).toHaveBeenCalledOnce();
  });

  test('C3.1 a spec that is changed after registering does not reach the model', () => {
    const spec = { name: 'a', description: 'before', parameters: {} };
    const registry = registryOf(toolWithSpec(spec));
    spec.description = 'after';
    expect(registry.schemas()[0]?.description).toBe('before');
  });

  test.each<[string, unknown, string]>([
    ['no spec', undefined, 'tool: spec: expected an object with name, description'],
    ['an array', [], 'got an array'],
    ['no name', { description: '', parameters: {} }, 'tool: name: expected a non-empty string'],
    ['an empty name', { name: '', description: '', parameters: {} }, 'got ""'],
    ['a name with a space', { name: 'a b', description: '', parameters: {} }, 'got "a b"'],
    ['no description', { name: 'a', parameters: {} }, 'tool: description: expected a string'],
    ['a list as parameters', { name: 'a', description: '', parameters: [] }, 'got an array'],
    ['null as parameters', { name: 'a', description: '', parameters: null }, 'got null'],
  ])('C3.1 a tool whose spec is unusable is refused: %s', (_title, spec, text) => {
    const registry = new DefaultToolRegistry();
    const register = (): void => {
      registry.register(toolWithSpec(spec));
    };
    expect(register).toThrow(TypeError);
    expect(register).toThrow(text);
    expect(registry.schemas()).toEqual([]);
  });

  test.each<[string, unknown, string]>([
    ['null', null, 'tool: expected an object, got null'],
    ['no methods', {}, 'tool.spec: expected a function, got undefined'],
    ['no execute', { spec: () => ({}) }, 'tool.execute: expected a function, got undefined'],
  ])('C3.5 what is no tool is refused: %s', (_title, tool, text) => {
    expect(() => {
      new DefaultToolRegistry().register(tool as Tool);
    }).toThrow(new TypeError(text));
  });

  test('C3.6 what is no guard is refused', () => {
    const registry = new DefaultToolRegistry();
    expect(() => {
      registry.addGuard({} as never);
    }).toThrow(new TypeError('guard.check: expected a function, got undefined'));
    expect(() => new DefaultToolRegistry({ findGuards: 5 as never })).toThrow(
      new TypeError('findGuards: expected a function, got 5'),
    );
  });
});

describe('dispatch', () => {
  test('C3.3 a result stands under its call id; no guard, no decision', async () => {
    expect(await registryOf(toolOf('echo', () => ({ a: 1 }))).dispatch(call('echo'))).toEqual({
      call_id: 'call-1',
      value: { a: 1 },
      render: null,
      error: null,
      decision: null,
    });
  });

  test('C3.5 executeWith is preferred and gets call id, signal and its own this', async () => {
    const execute = vi.fn(() => Promise.resolve('plain'));
    class Rich {
      readonly #word = 'rich';
      execute = execute;
      spec(): ToolSpec {
        return { name: 'rich', description: '', parameters: {} };
      }
      executeWith(input: ToolInput, options?: { signal?: AbortSignal }): Promise<ToolExecOutcome> {
        const value = [this.#word, input.call_id, input.args, options?.signal === signal];
        return Promise.resolve({ value, render: 'Rich!', surface: { kind: 'note' } });
      }
    }
    const { signal } = new AbortController();
    const output = await registryOf(new Rich()).dispatch(call('rich', { x: 1 }), { signal });
    expect(output.value).toEqual(['rich', 'call-1', { x: 1 }, true]);
    expect(output).toMatchObject({ render: 'Rich!', surface: { kind: 'note' }, error: null });
    expect(execute).not.toHaveBeenCalled();
  });

  test('C3.3 undefined as a result is null, for JSON has no undefined', async () => {
    const output = await registryOf(toolOf('quiet', () => undefined)).dispatch(call('quiet'));
    expect(output).toMatchObject({ value: null, error: null });
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a string', 'done'],
    ['an array', []],
  ])('C3.7 an outcome that is no outcome is an error result: %s', async (_title, outcome) => {
    const tool = { ...toolOf('odd'), executeWith: () => Promise.resolve(outcome as never) };
    expect((await registryOf(tool).dispatch(call('odd'))).error).toContain(
      'executeWith: expected an object with value and render, got ',
    );
  });

  test('C3.3 render and surface of a wrong type are left out', async () => {
    const outcome = { value: 1, render: 5, surface: 'x' } as never;
    const tool = { ...toolOf('odd'), executeWith: () => Promise.resolve(outcome) };
    const output = await registryOf(tool).dispatch(call('odd'));
    expect(output).toEqual({
      call_id: 'call-1',
      value: 1,
      render: null,
      error: null,
      decision: null,
    });
  });

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', '', 'nope'])(
    'C3.7 an unknown tool is an error result that says which there are: %j',
    async (name) => {
      const registry = registryOf(toolOf('b'), toolOf('a'));
      expect(registry.get(name)).toBeUndefined();
      const output = await registry.dispatch(call(name));
      expect(output).toMatchObject({ call_id: 'call-1', value: null, decision: null });
      expect(output.error).toBe(`unknown tool "${name}"; the tools are: a, b`);
    },
  );

  test('C3.7 an unknown tool in an empty registry', async () => {
    const registry = new DefaultToolRegistry();
    expect((await registry.dispatch(call('a'))).error).toBe('unknown tool "a"; there are no tools');
  });

  test('C3.7 of many tools, an unknown name is answered with the nearest', async () => {
    const numbered = Array.from({ length: 900 }, (_, index) => toolOf(`tool_${String(index)}`));
    const many = registryOf(...numbered, toolOf('read_file'), toolOf('write_file'));
    expect((await many.dispatch(call('ReadFile'))).error).toMatch(
      /^unknown tool "ReadFile"; the nearest of 902 tools are: read_file, write_file, tool_\d/,
    );
    expect((await many.dispatch(call('tool_1x'))).error).toBe(
      'unknown tool "tool_1x"; the nearest of 902 tools are: ' +
        'tool_1, tool_10, tool_11, tool_12, tool_13, tool_14, tool_15, tool_16',
    );
    const long = registryOf(...['a', 'b', 'c'].map((name) => toolOf(name.repeat(1_000))));
    const names = ['x'.repeat(100_000), '', '__proto__'];
    for (const registry of [many, long]) {
      for (const name of names) {
        const { error } = await registry.dispatch(call(name));
        expect(error).toContain('unknown tool');
        expect(error?.length).toBeLessThanOrEqual(2_000);
      }
    }
  });

  test('C3.7 a tool that is replaced while its call is judged does not take it over', async () => {
    const registry = registryOf(toolOf('a', () => 'old'));
    registry.addGuard(
      guardOf(() => {
        registry.register(toolOf('a', () => 'new'));
        return { kind: 'allow' };
      }),
    );
    expect((await registry.dispatch(call('a'))).value).toBe('old');
    expect((await registry.dispatch(call('a'))).value).toBe('new');
  });

  test('C3.3 value, render and surface are made safe to log', async () => {
    const outcome = {
      value: { at: new Date(0), id: 1n },
      render: 'half \ud800',
      surface: { kind: 'note', seen: new Set(['a']) },
    };
    const tool = { ...toolOf('odd'), executeWith: () => Promise.resolve(outcome) };
    expect(await registryOf(tool).dispatch(call('odd'))).toMatchObject({
      value: { at: '1970-01-01T00:00:00.000Z', id: 1 },
      render: 'half \ufffd',
      surface: { kind: 'note', seen: ['a'] },
    });
    const value = { rows: [1, 2] };
    const plain = registryOf(toolOf('plain', () => value));
    expect((await plain.dispatch(call('plain'))).value).toBe(value);
  });

  test('C3.5 a tool named __proto__ is a tool like any other', async () => {
    const registry = registryOf(toolOf('__proto__', () => 'ran'));
    expect((await registry.dispatch(call('__proto__'))).value).toBe('ran');
    expect(registry.schemas().map(({ name }) => name)).toEqual(['__proto__']);
  });

  test('X2 a call whose signal has aborted does not start', async () => {
    const execute = vi.fn();
    const registry = registryOf(toolOf('a', execute));
    const controller = new AbortController();
    registry.addGuard(
      guardOf(() => {
        controller.abort();
        return { kind: 'allow' };
      }),
    );
    const output = await registry.dispatch(call('a'), { signal: controller.signal });
    expect(output).toMatchObject({
      error: 'cancelled before the tool ran',
      decision: { kind: 'allow' },
    });
    expect(execute).not.toHaveBeenCalled();
  });
});
