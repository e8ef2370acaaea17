import { existsSync } from 'node:fs';
import { join } from 'node:path';

import {
  APPROVAL_SERVICE,
  DefaultToolRegistry,
  fileTools,
  readOnlyGuard,
  toolRegistryPlugin,
  workTools,
  type ApprovalRequest,
  type ApprovalService,
} from '@celestea/tools';
import { Context, mountPlugins, TOOL_REGISTRY_SERVICE } from '@celestea/core';
import { beforeEach, describe, expect, test } from 'vitest';

import { failureOf, freshFolder } from './support/folder.ts';
import { call, guardOf } from './support/doubles.ts';
import { toolNamed } from './support/work.ts';

let root = '';
let requests: ApprovalRequest[] = [];

beforeEach(() => {
  root = freshFolder();
  requests = [];
});

const approving: ApprovalService = {
  decide: (request) => {
    requests.push(request);
    return Promise.resolve({ kind: 'allow' });
  },
};

const toWrite = call('write_file', { path: 'a.txt', content: 'x' });
const toRun = call('run_command', { command: ['touch', 'b.txt'] });

const registryOf = (
  parts: Pick<ReturnType<typeof workTools>, 'tools'> & Partial<ReturnType<typeof workTools>>,
  service?: ApprovalService,
): DefaultToolRegistry => {
  const registry = new DefaultToolRegistry({ findApproval: () => service });
  for (const tool of parts.tools) registry.register(tool);
  if (parts.guard !== undefined) registry.addGuard(parts.guard);
  return registry;
};

const untouched = (): void => {
  expect([existsSync(join(root, 'a.txt')), existsSync(join(root, 'b.txt'))]).toEqual([
    false,
    false,
  ]);
};

describe('workTools', () => {
  test('C3.6 every call is asked about, and refused when nobody is there', async () => {
    const registry = registryOf(workTools(root));
    for (const input of [toWrite, toRun]) {
      const output = await registry.dispatch(input);
      expect(output.error).toContain('needs approval, and nobody is there to give it');
      expect(output.decision?.kind).toBe('ask');
    }
    untouched();
  });

  test('C3.6 an approved call runs', async () => {
    const registry = registryOf(workTools(root), approving);
    expect(await registry.dispatch(toWrite)).toMatchObject({
      value: { path: 'a.txt', bytes: 1, created: true },
      render: 'a.txt: made, 1 byte',
      decision: { kind: 'allow' },
    });
    expect(await registry.dispatch(toRun)).toMatchObject({
      value: { exit_code: 0 },
      render: 'exit 0',
    });
    expect(existsSync(join(root, 'b.txt'))).toBe(true);
    expect(requests.map(({ name, reason }) => [name, reason])).toEqual([
      ['write_file', 'it can change things on this machine'],
      ['run_command', 'it can change things on this machine'],
    ]);
  });

  test('C3.6 a guard that was forgotten is an error, and no open door', async () => {
    const { tools } = workTools(root);
    const others = [
      registryOf({ tools }),
      registryOf({ tools, guard: guardOf(() => ({ kind: 'allow' })) }),
      registryOf({ tools, guard: workTools(root).guard }, approving),
    ];
    for (const registry of others) {
      for (const input of [toWrite, toRun]) {
        expect((await registry.dispatch(input)).error).toBe(
          `${input.name} needs the guard that comes with it, which was not asked`,
        );
      }
    }
    for (const { args, name } of [toWrite, toRun]) {
      const text = await failureOf(toolNamed({ tools, guard: workTools(root).guard }, name), args);
      expect(text).toContain('needs the guard that comes with it');
    }
    untouched();
  });

  test('a call that the guard was asked about is not another that looks the same', async () => {
    const work = workTools(root);
    await work.guard.check(toWrite);
    const written = toolNamed(work, 'write_file').executeWith?.({ ...toWrite });
    await expect(written).rejects.toThrow('needs the guard that comes with it');
    untouched();
  });

  test('other tools are none of its business', async () => {
    const registry = registryOf(workTools(root));
    for (const tool of fileTools(root)) registry.register(tool);
    expect((await registry.dispatch(call('list_dir', {}))).error).toBeNull();
  });

  test('a guard that denies is stronger than an approval', async () => {
    const registry = registryOf(workTools(root), approving);
    registry.addGuard(readOnlyGuard(registry));
    expect((await registry.dispatch(toWrite)).error).toBe(
      'denied: only tools that read may be used here',
    );
    untouched();
  });

  test('ask: a function picks the calls to ask about', async () => {
    const work = workTools(root, { ask: ({ name }) => name === 'run_command' });
    const registry = registryOf(work);
    expect((await registry.dispatch(toWrite)).error).toBeNull();
    expect((await registry.dispatch(toRun)).decision?.kind).toBe('ask');
    const broken = workTools(root, { ask: () => 'no' as never });
    expect((await registryOf(broken).dispatch(toWrite)).decision?.kind).toBe('deny');
  });

  test('ask: false asks nobody, with or without the guard', async () => {
    const { tools, guard } = workTools(root, { ask: false });
    expect((await registryOf({ tools }).dispatch(toWrite)).error).toBeNull();
    expect((await registryOf({ tools, guard }).dispatch(toRun)).error).toBeNull();
  });

  test('C5.3 with the plugin, and the approval service of the scope', async () => {
    const { tools, guard } = workTools(root);
    const ctx = Context.root().provide(APPROVAL_SERVICE, approving);
    mountPlugins(ctx, [toolRegistryPlugin([...fileTools(root), ...tools], [guard])]);
    const registry = ctx.require(TOOL_REGISTRY_SERVICE);
    expect(registry.schemas().map(({ name }) => name)).toEqual([
      'list_dir',
      'read_file',
      'run_command',
      'search_text',
      'write_file',
    ]);
    expect((await registry.dispatch(toWrite)).error).toBeNull();
    expect((await registry.dispatch(call('read_file', { path: 'a.txt' }))).value).toMatchObject({
      text: 'x',
    });
  });

  test('X2 a call that is cancelled while it waits for approval changes nothing', async () => {
    const controller = new AbortController();
    const service: ApprovalService = {
      decide: () => {
        controller.abort();
        return Promise.resolve({ kind: 'allow' });
      },
    };
    const registry = registryOf(workTools(root), service);
    const output = await registry.dispatch(toWrite, { signal: controller.signal });
    expect(output.error).toContain('cancelled');
    untouched();
  });
});

describe('options of workTools', () => {
  test.each<[object, string]>([
    [{ ask: true }, 'ask: expected a function, false or nothing, got true'],
    [{ ask: 'never' }, 'ask: expected a function, false or nothing, got "never"'],
    [{ ask: null }, 'ask: expected a function, false or nothing, got null'],
    [{ graceMs: -1 }, 'graceMs: expected a number of milliseconds from 0 to 60000, got -1'],
    [{ graceMs: NaN }, 'graceMs: expected a number of milliseconds from 0 to 60000, got NaN'],
    [{ graceMs: Infinity }, 'graceMs: expected a number of milliseconds from 0 to 60000'],
    [{ graceMs: '5' }, 'graceMs: expected a number of milliseconds from 0 to 60000, got "5"'],
    [{ env: ['A=b'] }, 'env: expected an object of strings, got an array'],
    [{ env: { 'A=b': 'c' } }, "env: expected names without '=' and NUL, got \"A=b\""],
    [{ env: { '': 'c' } }, "env: expected names without '=' and NUL, got \"\""],
    [{ env: { A: undefined } }, 'env.A: expected a string without NUL, got something else'],
    [{ env: { KEY: 'secret\0' } }, 'env.KEY: expected a string without NUL, got something else'],
  ])('a bad one is a TypeError that names it: %j', (options, text) => {
    expect(() => workTools(root, options)).toThrow(TypeError);
    expect(() => workTools(root, options)).toThrow(text);
  });

  test('a root that is no folder, and options that are no object', () => {
    expect(() => workTools('')).toThrow(TypeError);
    expect(() => workTools(join(root, 'missing'))).toThrow('got nothing that exists');
    expect(() => workTools(root, null as never)).toThrow('options: expected an object, got null');
  });
});
