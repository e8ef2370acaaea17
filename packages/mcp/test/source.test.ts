import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { describe, expect, test } from 'vitest';

import { ByHand, byHand } from './support/servers.ts';
import { failure, nextChange, open, openRegistry, until } from './support/use.ts';

const stdio = (): StdioClientTransport =>
  new StdioClientTransport({ ...byHand(), stderr: 'ignore' });

test('a transport of the SDK is started, used and closed, and not started again', async () => {
  const { call } = await openRegistry(stdio());
  expect((await call('echo', { text: 'x' })).value).toBe('x');
  expect((await call('die')).error).toBe('MCP server a rude server: the connection was closed');
  expect((await call('echo')).error).toBe('MCP server a rude server: the connection was closed');
});

test('a function gives a transport for each start', async () => {
  let made = 0;
  const { call } = await openRegistry(() => {
    made += 1;
    return made === 1 ? stdio() : Promise.resolve(stdio());
  });
  expect((await call('die')).error).toMatch(/the connection was closed/);
  expect((await call('echo', { text: 'x' })).value).toBe('x');
  expect(made).toBe(2);
});

test('a connected client is used, followed, and stays its owner’s', async () => {
  const client = new Client({ name: 'mine', version: '1' });
  const closes: string[] = [];
  client.onclose = () => closes.push('closed');
  await client.connect(stdio());
  const { mcp, call } = await openRegistry(client);
  expect(mcp.serverName).toBe('a rude server');
  const changed = nextChange(mcp);
  await call('change', { add: 'new' });
  expect((await changed).added).toEqual(['new']);
  await mcp.close();
  expect((await call('echo')).error).toMatch(/it was closed/);
  expect(await client.ping()).toEqual({});
  await client.close();
  expect(closes).toEqual(['closed']);
});

test('a client that loses its server is down for good', async () => {
  const client = new Client({ name: 'mine', version: '1' });
  await client.connect(stdio());
  const { call } = await openRegistry(client);
  expect((await call('die')).error).toMatch(/the connection was closed/);
  expect((await call('echo')).error).toMatch(/the connection was closed/);
});

test('a client that is not connected fails the start', async () => {
  const client = new Client({ name: 'mine', version: '1' });
  expect(await failure(open(client))).toMatch(/the client is not connected/);
});

test('a server in the same process works over a transport in memory', async () => {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const server = new McpServer({ name: 'inside', version: '1' });
  server.registerTool('hello', { description: 'Greets.' }, () => ({
    content: [{ type: 'text', text: 'hello' }],
  }));
  await server.connect(far);
  const { mcp, call } = await openRegistry(near);
  expect(mcp.serverName).toBe('inside');
  expect((await call('hello')).value).toBe('hello');
  const waiting = nextChange(mcp);
  server.registerTool('bye', {}, () => ({ content: [] }));
  expect((await waiting).added).toEqual(['bye']);
});

test('a transport that is dead and does not say so ends the calls in flight', async () => {
  const transport = new ByHand({ ping: () => ({}) });
  const { call } = await openRegistry(transport);
  const waiting = call('a');
  await Promise.resolve();
  transport.onerror?.(new Error('a hiccup'));
  await new Promise((resolve) => setImmediate(resolve));
  transport.send = () => Promise.reject(new TypeError('fetch failed'));
  transport.onerror?.(new Error('stream broke'));
  expect((await waiting).error).toBe('MCP server by hand: the connection broke: fetch failed');
});

test('a transport that comes too late is closed, even one that cannot be', async () => {
  const late = new ByHand();
  late.close = () => {
    late.closes += 1;
    return Promise.reject(new Error('cannot close'));
  };
  let give: (transport: Transport) => void = () => undefined;
  const source = (): Promise<Transport> =>
    new Promise((resolve) => {
      give = resolve;
    });
  expect(await failure(open(source, { startTimeoutMs: 1 }))).toMatch(/no answer within 1 ms/);
  give(late);
  await until(() => late.closes > 0);
  expect(late.closes).toBe(1);
});

describe('what is wrong is a TypeError that names it', () => {
  const wrong: [string, unknown, unknown, RegExp][] = [
    ['no source', null, {}, /source: expected a command, a url, .*, got null/],
    ['an empty command', { command: '' }, {}, /command: expected a non-empty string/],
    ['a command that is none', { command: 7 }, {}, /command: expected a non-empty string, got 7/],
    ['args', { command: 'x', args: 'y' }, {}, /args: expected strings/],
    ['env', { command: 'x', env: { A: 1 } }, {}, /env: expected texts by their names/],
    ['cwd', { command: 'x', cwd: 1 }, {}, /cwd: expected a string or nothing/],
    ['a url', { url: 'ftp://x' }, {}, /url: expected an http or https URL/],
    ['headers', { url: 'http://x', headers: [] }, {}, /headers: expected texts by their names/],
    ['options', byHand(), 7, /options: expected an object, got 7/],
    ['a prefix', byHand(), { prefix: '' }, /prefix: expected a non-empty string/],
    ['putImage', byHand(), { putImage: 1 }, /putImage: expected a function or nothing/],
    ['onProgress', byHand(), { onProgress: 1 }, /onProgress: expected a function/],
    ['callTimeoutMs', byHand(), { callTimeoutMs: Number.NaN }, /callTimeoutMs: .* got NaN/],
    ['callTimeoutMs', byHand(), { callTimeoutMs: -1 }, /callTimeoutMs: .* from 0 to .* got -1/],
    ['startTimeoutMs', byHand(), { startTimeoutMs: -1 }, /startTimeoutMs: expected .* got -1/],
    ['restarts', byHand(), { restarts: 1.5 }, /restarts: expected a whole number from 0/],
    ['restartWindowMs', byHand(), { restartWindowMs: 0 }, /restartWindowMs: expected .* got 0/],
    ['restartWindowMs', byHand(), { restartWindowMs: '9' }, /restartWindowMs: expected .* above 0/],
  ];
  test.each(wrong)('%s', async (_, source, options, text) => {
    const promise = open(source as never, options as never);
    await expect(promise).rejects.toThrow(TypeError);
    await expect(promise).rejects.toThrow(text);
  });

  test('a function that gives no transport', async () => {
    const text = await failure(open((() => 7) as never));
    expect(text).toMatch(/source\(\): expected a transport, got 7/);
  });
});
