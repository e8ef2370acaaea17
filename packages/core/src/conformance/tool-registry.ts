import type { Tool, ToolOutput, ToolRegistry } from '../tool.ts';
import type { ContractFramework } from './framework.ts';
import { GUARDS } from './tool-registry-guards.ts';
import {
  assertFailed,
  call,
  echo,
  toolOf,
  type RegistryTest,
  type ToolRegistryPart,
} from './tool-registry-kit.ts';

/** A new registry without tools and guards, with what the suite needs besides. */
export interface ToolRegistryUnderTest {
  readonly registry: ToolRegistry;
  /** Called after each test. */
  readonly dispose?: () => unknown;
}

/**
 * The contract of a {@link ToolRegistry} (C3.3 to C3.7) as tests. `make` gives a new, empty
 * registry for each. A double that does not ask guards is held to other `parts` alone.
 *
 * @example
 * import { test } from 'node:test';
 * import assert from 'node:assert/strict';
 * toolRegistryContract(() => ({ registry: new MyRegistry() }), { test, assert });
 */
export function toolRegistryContract(
  make: () => ToolRegistryUnderTest | Promise<ToolRegistryUnderTest>,
  { test, assert }: ContractFramework,
  parts: readonly ToolRegistryPart[] = ['tools', 'dispatch', 'reasons', 'guards'],
): void {
  for (const { part, title, run } of [...TOOLS, ...DISPATCH, ...FAILURES, ...GUARDS]) {
    if (!parts.includes(part)) continue;
    test(`tool registry: ${title}`, async () => {
      const { registry, dispose } = await make();
      try {
        await run({ registry, assert });
      } finally {
        await dispose?.();
      }
    });
  }
}

const namesOf = (registry: ToolRegistry): string[] => registry.schemas().map(({ name }) => name);

/** The texts that values leave which say nothing. */
const SILENT: readonly unknown[] = ['', 'undefined', 'null', '[object Object]'];

const THROWN: readonly unknown[] = [
  new Error('disk full'),
  new Error('', { cause: 'it' }),
  'no',
  '',
  42,
  10n,
  false,
  Symbol('s'),
  null,
  undefined,
  {},
  { code: 7 },
  () => 1,
];

/** A tool that throws at once, and one that rejects, for each of the values above. */
async function* failures(registry: ToolRegistry): AsyncGenerator<ToolOutput> {
  for (const value of THROWN) {
    registry.register(
      toolOf('sync', () => {
        throw value;
      }),
    );
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- what it tests
    registry.register(toolOf('async', () => Promise.reject(value)));
    yield await registry.dispatch(call('sync'));
    yield await registry.dispatch(call('async'));
  }
}

const TOOLS: readonly RegistryTest[] = [
  {
    part: 'tools',
    title: 'C3.7 starts empty',
    run: ({ registry, assert }) => {
      assert.deepEqual(registry.schemas(), []);
      assert.equal(registry.get('a'), undefined);
    },
  },
  {
    part: 'tools',
    title: 'C3.7 gives back the tool of a name, and nothing for names that every object has',
    run: ({ registry, assert }) => {
      const tool = echo('a');
      registry.register(tool);
      assert.equal(registry.get('a'), tool);
      for (const name of ['b', '', 'constructor', '__proto__', 'toString', 'hasOwnProperty']) {
        assert.equal(registry.get(name), undefined, name);
      }
    },
  },
  {
    part: 'tools',
    title: 'C3.1 C3.7 tells the model of each tool',
    run: ({ registry, assert }) => {
      const tool = echo('a');
      registry.register(tool);
      assert.deepEqual(registry.schemas(), [tool.spec()]);
    },
  },
  {
    part: 'tools',
    title: 'C3.7 hands out a fresh array, the same as long as nothing changes',
    run: ({ registry, assert }) => {
      for (const name of ['b', 'c', 'a']) registry.register(echo(name));
      const before = registry.schemas();
      registry.schemas().length = 0;
      assert.deepEqual(registry.schemas(), before);
      assert.equal(before.length, 3);
      registry.register(echo('d'));
      assert.equal(before.length, 3, 'what was handed out stays as it was');
      assert.deepEqual(namesOf(registry).sort(), ['a', 'b', 'c', 'd']);
    },
  },
  {
    part: 'tools',
    title: 'C3.7 the last tool of a name wins, and stands there once',
    run: async ({ registry, assert }) => {
      registry.register(toolOf('a', () => Promise.resolve('first')));
      registry.register(toolOf('a', () => Promise.resolve('last')));
      assert.deepEqual(namesOf(registry), ['a']);
      assert.equal((await registry.dispatch(call('a'))).value, 'last');
    },
  },
];

const DISPATCH: readonly RegistryTest[] = [
  {
    part: 'dispatch',
    title: 'C3.3 answers a call under its id, with the value of the tool',
    run: async ({ registry, assert }) => {
      registry.register(echo('a'));
      const output = await registry.dispatch(call('a', 'call-7', { path: 'x', deep: [{ n: 1 }] }));
      assert.deepEqual(output, {
        call_id: 'call-7',
        value: { name: 'a', args: { path: 'x', deep: [{ n: 1 }] } },
        render: null,
        error: null,
        decision: null,
      });
    },
  },
  {
    part: 'dispatch',
    title: 'C3.3 a tool that gives nothing gives null',
    run: async ({ registry, assert }) => {
      registry.register(toolOf('a', () => Promise.resolve(undefined)));
      const { value, error } = await registry.dispatch(call('a'));
      assert.deepEqual([value, error], [null, null]);
    },
  },
  {
    part: 'dispatch',
    title: 'C3.5 prefers executeWith, which knows its call and may render and cut',
    run: async ({ registry, assert }) => {
      const seen: unknown[] = [];
      const surface = { kind: 'truncation', note: 'cut' };
      registry.register({
        ...toolOf('a', () => Promise.reject(new Error('not asked'))),
        executeWith: ({ call_id, name, args }) => {
          seen.push({ call_id, name, args });
          return Promise.resolve({ value: 1, render: 'one', surface });
        },
      });
      const output = await registry.dispatch(call('a', 'call-8', { x: 1 }));
      assert.deepEqual(seen, [{ call_id: 'call-8', name: 'a', args: { x: 1 } }]);
      const { call_id, value, render, error } = output;
      assert.deepEqual([call_id, value, render, error], ['call-8', 1, 'one', null]);
      assert.deepEqual(output.surface, surface);
    },
  },
  {
    part: 'dispatch',
    title: 'C3.5 calls a tool as its own method',
    run: async ({ registry, assert }) => {
      class Counter implements Tool {
        count = 0;
        spec(): ReturnType<Tool['spec']> {
          return { name: 'count', description: '', parameters: { type: 'object' } };
        }
        execute(): Promise<unknown> {
          return Promise.resolve((this.count += 1));
        }
      }
      registry.register(new Counter());
      await registry.dispatch(call('count'));
      assert.equal((await registry.dispatch(call('count'))).value, 2);
    },
  },
  {
    part: 'dispatch',
    title: 'C3.5 hands its signal on, and does without one',
    run: async ({ registry, assert }) => {
      const seen: unknown[] = [];
      registry.register(
        toolOf('a', (_args, options) => {
          seen.push(options?.signal);
          return Promise.resolve(null);
        }),
      );
      const { signal } = new AbortController();
      await registry.dispatch(call('a'), { signal });
      await registry.dispatch(call('a'));
      assert.ok(seen[0] === signal, 'the same signal');
      assert.equal(seen[1], undefined);
    },
  },
  {
    part: 'dispatch',
    title: 'C3.7 runs calls side by side, each with its own answer',
    run: async ({ registry, assert }) => {
      const waiting: (() => void)[] = [];
      registry.register(
        toolOf('a', async (args) => {
          await new Promise<void>((resolve) => {
            waiting.push(resolve);
            // Opened by the last, so one at a time would wait for ever.
            if (waiting.length === 3) for (const open of waiting.reverse()) open();
          });
          return args;
        }),
      );
      const ids = ['x', 'y', 'z'];
      const outputs = await Promise.all(ids.map((id) => registry.dispatch(call('a', id, { id }))));
      assert.deepEqual(
        outputs.map(({ call_id, value }) => [call_id, value]),
        ids.map((id) => [id, { id }]),
      );
    },
  },
];

const FAILURES: readonly RegistryTest[] = [
  {
    part: 'dispatch',
    title: 'C3.7 an unknown tool is an output with an error',
    run: async ({ registry, assert }) => {
      registry.register(echo('a'));
      for (const name of ['b', '', 'constructor', '__proto__', 'toString', 'valueOf']) {
        assertFailed(assert, await registry.dispatch(call(name)), name);
      }
    },
  },
  {
    part: 'dispatch',
    title: 'C3.7 a tool that throws or rejects is an output with an error, whatever it throws',
    run: async ({ registry, assert }) => {
      for await (const output of failures(registry)) {
        assertFailed(assert, output, String(output.error));
      }
    },
  },
  {
    part: 'reasons',
    title: 'C3.7 an error tells something, whatever was thrown',
    run: async ({ registry, assert }) => {
      for await (const { error } of failures(registry)) {
        assert.ok(!SILENT.includes(error), JSON.stringify(error));
      }
    },
  },
  {
    part: 'dispatch',
    title: 'C3.7 an error says what the tool said',
    run: async ({ registry, assert }) => {
      registry.register(toolOf('a', () => Promise.reject(new Error('disk full'))));
      const { error } = await registry.dispatch(call('a'));
      assert.ok(error?.includes('disk full'), String(error));
    },
  },
  {
    part: 'dispatch',
    title: 'C3.7 goes on after a failure',
    run: async ({ registry, assert }) => {
      registry.register(toolOf('bad', () => Promise.reject(new Error('no'))));
      registry.register(echo('good'));
      await registry.dispatch(call('bad'));
      assert.equal((await registry.dispatch(call('good'))).error, null);
    },
  },
];
