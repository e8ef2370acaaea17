import { describeValue, isRecord } from '@celestea/core';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

import { ChildTransport, type McpCommand } from './child-transport.ts';
import { HttpTransport } from './http-transport.ts';
import { check } from './options.ts';
import { cutText } from './text.ts';

/** A server that is reached over streamable HTTP. */
export interface McpUrl {
  url: string | URL;
  /** Sent with every request, such as `authorization`. Never shown. */
  headers?: Readonly<Record<string, string>>;
}

/**
 * Where a server is: a command, a URL, a function that gives a fresh transport each time (these
 * can be started anew), a transport that has not been started, or a connected client, which
 * stays its owner's: it is not closed, and loses its own handler for list changes.
 */
export type McpSource =
  | McpCommand
  | McpUrl
  | Transport
  | (() => Transport | Promise<Transport>)
  | Client;

/** A way to a server, to be used once. */
export type Link =
  | { kind: 'client'; client: Client }
  | { kind: 'transport'; transport: Transport };

/** A source in the one form that the rest works with. */
export interface Dial {
  /** Names the server before it has said its name. */
  label: string;
  /** Whether it can be dialled more than once. */
  again: boolean;
  dial(): Promise<Link>;
}

/** Reads a source; a `TypeError` that says what was expected and what came when it is none. */
export function readSource(source: unknown): Dial {
  if (isFactory(source)) return transportDial('a transport', true, source);
  if (isClient(source)) {
    const link: Link = { kind: 'client', client: source };
    return { label: 'a client', again: false, dial: () => Promise.resolve(link) };
  }
  if (isTransport(source)) return transportDial('a transport', false, () => source);
  if (isRecord(source) && source['command'] !== undefined) return commandDial(source);
  if (isRecord(source) && source['url'] !== undefined) return urlDial(source);
  const expected = 'a command, a url, a transport, a function that gives one, or a client';
  throw new TypeError(`mcpTools: source: expected ${expected}, got ${describeValue(source)}`);
}

function transportDial(label: string, again: boolean, make: () => unknown): Dial {
  const dial = async (): Promise<Link> => {
    const transport = await make();
    check(isTransport(transport), 'source()', 'a transport', transport);
    return { kind: 'transport', transport };
  };
  return { label, again, dial };
}

function commandDial({ command, args = [], env = {}, cwd }: Record<string, unknown>): Dial {
  check(typeof command === 'string' && command !== '', 'command', 'a non-empty string', command);
  check(isTexts(args), 'args', 'strings', args);
  check(cwd === undefined || typeof cwd === 'string', 'cwd', 'a string or nothing', cwd);
  const place = cwd === undefined ? {} : { cwd };
  check(isTextRecord(env), 'env', 'texts by their names', env);
  const known: McpCommand = { command, args: [...args], env: { ...env }, ...place };
  const label = cutText([command, ...args].join(' '), 200);
  return transportDial(label, true, () => new ChildTransport(known));
}

function urlDial({ url, headers = {} }: Record<string, unknown>): Dial {
  const text = url instanceof URL ? url.href : url;
  const isUrl = typeof text === 'string' && /^https?:/i.test(text) && URL.canParse(text);
  // A text that is none may still hold a key.
  check(isUrl, 'url', 'an http or https URL', typeof url === 'string' ? {} : url);
  const target = new URL(text);
  check(isTextRecord(headers), 'headers', 'texts by their names', headers);
  const known = { ...headers };
  // Neither user information nor a query, which may hold a key, belongs into a message.
  const label = cutText(`${target.origin}${target.pathname}`, 200);
  return transportDial(label, true, () => new HttpTransport(target, known));
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

const isTextRecord = (value: unknown): value is Record<string, string> =>
  isRecord(value) && isTexts(Object.values(value));

const isFactory = (source: unknown): source is () => unknown => typeof source === 'function';

/** By its methods: a program may hold the SDK more than once, and as ESM and CommonJS. */
const isClient = (source: unknown): source is Client =>
  hasMethods(source, ['request', 'notification', 'setNotificationHandler', 'getServerVersion']);

const isTransport = (source: unknown): source is Transport =>
  hasMethods(source, ['start', 'send', 'close']);

const hasMethods = (source: unknown, names: readonly string[]): boolean =>
  isRecord(source) && names.every((name) => typeof source[name] === 'function');
