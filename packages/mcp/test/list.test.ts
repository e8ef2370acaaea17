import type { Tool } from '@celestea/core';
import { DefaultToolRegistry, defineTool } from '@celestea/tools';
import { describe, expect, test, vi } from 'vitest';

import { ByHand, inside } from './support/servers.ts';
import { failure, nextChange, open, openRegistry } from './support/use.ts';

const toolOf = (name: string): Tool =>
  defineTool({ name, description: '', parameters: { type: 'object' }, execute: () => name });

/** A server with these tools. */
const lists = (tools: unknown, result: unknown = {}): ByHand =>
  new ByHand({ 'tools/list': () => ({ tools }), 'tools/call': () => result });

const namesOf = (mcp: { tools(): { spec(): { name: string } }[] }): string[] =>
  mcp.tools().map((tool) => tool.spec().name);

test('C3.1 patterns of a server are left to it: shown to the model, and not run', async () => {
  const parameters = {
    type: 'object',
    properties: { a: { type: 'string', pattern: '^b$' } },
    required: ['a'],
  };
  const answer = { content: [{ type: 'text', text: 'done' }] };
  const { registry } = await openRegistry(lists([{ name: 't', inputSchema: parameters }], answer));
  expect(registry.schemas()[0]?.parameters).toEqual(parameters);
  const dispatch = (args: unknown) => registry.dispatch({ call_id: 'c', name: 't', args });
  expect((await dispatch({ a: 'no b' })).error).toBe(null);
  expect((await dispatch({ a: 1 })).error).toMatch(/expected a string/);
});

describe('names', () => {
  test('every tool of every page is there, under a name that providers take', async () => {
    const { mcp, registry } = await openRegistry(inside);
    const names = namesOf(mcp);
    expect(names.length).toBeGreaterThan(8);
    expect(names).toEqual(expect.arrayContaining(['echo', 'change', 'we_ird_n_me']));
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(registry.schemas().map(({ name }) => name)).toEqual([...names].sort());
  });

  test('a prefix stands before each, and is made fit as well', async () => {
    const mcp = await open(inside, { prefix: 'my files' });
    const names = namesOf(mcp);
    expect(names).toContain('my_files_echo');
    expect(names.every((name) => /^my_files_[A-Za-z0-9_-]+$/.test(name))).toBe(true);
    expect(names.every((name) => name.length <= 64)).toBe(true);
  });

  test('of two that would be one, the exact name keeps it, in any order', async () => {
    const tools = ['a b', 'a_b', 'a.b', ''].map((name) => ({ name, inputSchema: {} }));
    const one = namesOf(await open(lists(tools)));
    const other = namesOf(await open(lists(tools.toReversed())));
    expect(one[1]).toBe('a_b');
    expect(one[0]).toMatch(/^a_b_[0-9a-f]{8}$/);
    expect(one).toHaveLength(3);
    expect(other).toEqual(one.toReversed());
  });

  test('each is called by its own name with the server', async () => {
    const { call } = await openRegistry(inside, { prefix: 'p' });
    const { registry } = await openRegistry(inside);
    const odd = registry.schemas().filter(({ description }) => description.includes('we ird'));
    const name = odd[0]?.name ?? '';
    expect(name).toMatch(/^we_ird_n_me_[0-9a-f]{8}$/);
    const input = { call_id: '1', name, args: {} };
    expect(await registry.dispatch(input)).toMatchObject({ value: 'we ird/näme', error: null });
    expect(await call('p_echo', { text: 'x' })).toMatchObject({ value: 'x' });
  });
});

describe('specs', () => {
  const whole = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
  const any = { parameters: { type: 'object' } };
  test.each([
    ['the input schema is handed on', { inputSchema: whole }, { parameters: whole }],
    ['arguments are an object whatever it says', { inputSchema: { type: 'array' } }, any],
    ['no schema is one of any object', { inputSchema: 'none' }, any],
    ['nor is a huge one', { inputSchema: { ...whole, title: 'x'.repeat(100_000) } }, any],
    ['a title stands in for a description', { title: 'Reads' }, { description: 'Reads' }],
    ['what is no text describes nothing', { description: 7 }, { description: '' }],
    [
      'a description is bounded',
      { description: '😀'.repeat(9_000) },
      { description: `${'😀'.repeat(1_999)}…` },
    ],
  ])('%s', async (_, tool, spec) => {
    const [made] = (await open(lists([{ name: 'a', ...tool }]))).tools();
    expect(made?.spec()).toMatchObject(spec);
  });

  test('what is no tool is left out, and costs the others nothing', async () => {
    const tools = [null, 7, {}, { name: 7 }, { name: '' }, { name: 'a' }, { name: 'a' }, 'b'];
    expect(namesOf(await open(lists(tools)))).toEqual(['a']);
  });

  test('an output schema that cannot be used is not looked at', async () => {
    const tool = { name: 'a', outputSchema: { type: 'object', $ref: '#/nowhere' } };
    const result = { content: [{ type: 'text', text: 'fine' }], structuredContent: { n: 'x' } };
    const { call } = await openRegistry(lists([tool], result));
    expect((await call('a')).value).toEqual({ structuredContent: { n: 'x' }, text: 'fine' });
  });

  test('a schema that a registry refuses becomes one of any object there', async () => {
    const strict = new DefaultToolRegistry();
    const register = strict.register.bind(strict);
    strict.register = (tool) => {
      if ('properties' in tool.spec().parameters) throw new TypeError('no');
      register(tool);
    };
    const tools = [{ name: 'a', inputSchema: { properties: 7 } }, { name: 'b' }];
    const result = { content: [{ type: 'text', text: 'x' }] };
    const mcp = await open(lists(tools, result));
    mcp.register(strict);
    expect(strict.schemas().map(({ parameters }) => parameters)).toEqual([
      { type: 'object' },
      { type: 'object' },
    ]);
    const output = await strict.dispatch({ call_id: '1', name: 'a', args: {} });
    expect(output).toMatchObject({ value: 'x' });
  });
});

describe('lists', () => {
  test('a server without tools has none', async () => {
    const error = Object.assign(new Error('Method not found'), { code: -32601 });
    expect((await open(new ByHand({ 'tools/list': () => error }))).tools()).toEqual([]);
  });

  test('a cursor that does not move ends the list', async () => {
    const page = { tools: [{ name: 'a' }], nextCursor: 'again' };
    expect(namesOf(await open(new ByHand({ 'tools/list': () => page })))).toEqual(['a']);
  });

  let page = 0;
  const many = Array.from({ length: 1_001 }, (_, index) => ({ name: `t${String(index)}` }));
  test.each([
    ['without end', () => ({ tools: [], nextCursor: String((page += 1)) }), /not end within 200/],
    ['that is too long', () => ({ tools: many }), /more than 1000 tools/],
    ['that is none', () => ({ tools: 'all of them' }), /tools: expected an array/],
  ])('a list %s fails the start', async (_, list, text) => {
    expect(await failure(open(new ByHand({ 'tools/list': list })))).toMatch(text);
  });
});

describe('list changes', () => {
  test('new tools appear, changed ones change, and one that is gone says so', async () => {
    const { mcp, registry, call } = await openRegistry(inside, { prefix: 'p' });
    const echo = registry.get('p_echo');
    const changed = nextChange(mcp);
    const change = { add: ['zebra', 'ape'], remove: ['two'], describe: { add: 'Sums up.' } };
    expect((await call('p_change', change)).value).toBe('changed');
    expect(await changed).toEqual({
      added: ['p_ape', 'p_zebra'],
      removed: ['p_two'],
      changed: ['p_add'],
    });
    expect((await call('p_ape')).value).toBe('ape');
    expect(registry.get('p_echo')).toBe(echo);
    const specs = new Map(registry.schemas().map((spec) => [spec.name, spec.description]));
    expect(specs.get('p_add')).toBe('Sums up.');
    expect(specs.get('p_two')).toMatch(/no longer offers it/);
    expect(namesOf(mcp)).not.toContain('p_two');
    expect((await call('p_two')).error).toMatch(/"p_two" is gone: its MCP server no longer offers/);
  });

  test('a tool that comes back works again; one held while it was gone says so', async () => {
    const { mcp, call } = await openRegistry(inside);
    const held = mcp.tools().find((tool) => tool.spec().name === 'two');
    const went = nextChange(mcp);
    await call('change', { remove: ['two'] });
    await went;
    expect(await failure(held?.execute({}))).toMatch(/no longer offers it/);
    const back = nextChange(mcp);
    await call('change', { add: ['two'] });
    expect((await back).added).toEqual(['two']);
    expect((await call('two')).value).toBe('one\ntwo');
  });

  test('a listener that throws or was taken off keeps nothing from the others', async () => {
    const { mcp, call } = await openRegistry(inside);
    mcp.onChange(() => {
      throw new Error('own matter');
    });
    let heard = 0;
    const off = mcp.onChange(() => (heard += 1));
    off();
    const changed = nextChange(mcp);
    await call('change', { add: ['new'] });
    expect((await changed).added).toEqual(['new']);
    expect(heard).toBe(0);
  });

  test('a server that always says its list has changed is still there to be called', async () => {
    let listed = 0;
    const server = new ByHand({
      'tools/list': () => {
        listed += 1;
        server.say({ method: 'notifications/tools/list_changed' });
        return { tools: [{ name: 'a' }] };
      },
      'tools/call': () => ({ content: [] }),
    });
    vi.useFakeTimers();
    const { call } = await openRegistry(server);
    await vi.advanceTimersByTimeAsync(0);
    for (let count = 2; count < 10; count += 1) {
      expect(listed).toBe(count);
      await vi.advanceTimersByTimeAsync(50); // the pause between two listings
      expect((await call('a')).error).toBeNull();
    }
  });
});

describe('registering', () => {
  test('a tool of somebody else is not taken over: nothing is registered', async () => {
    const registry = new DefaultToolRegistry();
    const own = toolOf('two');
    registry.register(own);
    const mcp = await open(inside);
    expect(() => {
      mcp.register(registry);
    }).toThrow(/there is a tool "two" already.*prefix/);
    expect(registry.schemas()).toHaveLength(1);
    expect(registry.get('two')).toBe(own);
  });

  test('nor is one that took the place of a tool, or has the name of a new one', async () => {
    const { mcp, registry, call } = await openRegistry(inside);
    const own = [toolOf('two'), toolOf('fresh')];
    for (const tool of own) registry.register(tool);
    const changed = nextChange(mcp);
    await call('change', { remove: ['two'], add: ['fresh'] });
    expect(await changed).toMatchObject({ removed: ['two'], added: ['fresh'] });
    expect([registry.get('two'), registry.get('fresh')]).toEqual(own);
  });

  test('again is no harm; after a close another connection takes the names over', async () => {
    const { mcp, registry, call } = await openRegistry(inside);
    mcp.register(registry);
    await mcp.close();
    expect((await call('echo')).error).toMatch(/"?test server"?: it was closed/);
    const next = await open(inside);
    next.register(registry);
    expect((await call('echo', { text: 'again' })).value).toBe('again');
  });
});
