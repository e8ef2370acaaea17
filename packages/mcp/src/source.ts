import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

import { isRecord } from '@celestea/core';
import { mismatch } from './text.ts';
import { cutText } from './text.ts';
import { ChildTransport } from './child-transport.ts';
import { HttpTransport } from './http-transport.ts';

/** A server that is started as a child process and spoken to over stdio. */
export interface McpCommand {
  /** The program; it is run without a shell. It and its arguments show up in error messages. */
  command: string;
  args?: readonly string[];
  /**
   * Added to the few variables a child gets (`PATH`, `HOME` and the like): it does not inherit
   * the environment. The place for secrets, which are never shown.
   */
  env?: Readonly<Record<string, string>>;
  cwd?: string;
}

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
  | { kind: 'transport'; transport: Transport; lastWords(): string };

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
  if (isFactory(source)) {
    return { label: 'a transport', again: true, dial: async () => plain(await source()) };
  }
  if (isClient(source)) {
    const client = source;
    return { label: 'a client', again: false, dial: () => resolved({ kind: 'client', client }) };
  }
  if (isTransport(source)) {
    return { label: 'a transport', again: false, dial: () => resolved(plain(source)) };
  }
  if (isRecord(source) && source['command'] !== undefined) return commandDial(source);
  if (isRecord(source) && source['url'] !== undefined) return urlDial(source);
  const expected = 'a command, a url, a transport, a function that gives one, or a client';
  throw new TypeError(`mcpTools: ${mismatch('source', expected, source)}`);
}

const resolved = (link: Link): Promise<Link> => Promise.resolve(link);

function plain(transport: unknown): Link {
  if (isTransport(transport)) return { kind: 'transport', transport, lastWords: () => '' };
  throw new TypeError(`mcpTools: ${mismatch('source()', 'a transport', transport)}`);
}

function commandDial({ command, args = [], env = {}, cwd }: Record<string, unknown>): Dial {
  if (typeof command !== 'string' || command === '') {
    throw new TypeError(`mcpTools: ${mismatch('command', 'a non-empty string', command)}`);
  }
  if (!isTexts(args)) throw new TypeError(`mcpTools: ${mismatch('args', 'strings', args)}`);
  if (cwd !== undefined && typeof cwd !== 'string') {
    throw new TypeError(`mcpTools: ${mismatch('cwd', 'a string or nothing', cwd)}`);
  }
  const known: McpCommand = {
    command,
    args: [...args],
    env: textRecord('env', env),
    ...(cwd === undefined ? {} : { cwd }),
  };
  return {
    label: cutText([command, ...args].join(' '), 200),
    again: true,
    dial: () => {
      const transport = new ChildTransport(known);
      return resolved({ kind: 'transport', transport, lastWords: () => transport.lastWords() });
    },
  };
}

function urlDial({ url, headers = {} }: Record<string, unknown>): Dial {
  const text = url instanceof URL ? url.href : url;
  if (typeof text !== 'string' || !/^https?:/i.test(text) || !URL.canParse(text)) {
    throw new TypeError(`mcpTools: ${mismatch('url', 'an http or https URL', url)}`);
  }
  const target = new URL(text);
  const known = textRecord('headers', headers);
  return {
    // Neither user information nor a query, which may hold a key, belongs into a message.
    label: cutText(`${target.origin}${target.pathname}`, 200),
    again: true,
    dial: () => {
      const transport = new HttpTransport(target, known);
      return resolved({ kind: 'transport', transport, lastWords: () => '' });
    },
  };
}

function textRecord(name: string, value: unknown): Record<string, string> {
  if (!isRecord(value)) throw new TypeError(`mcpTools: ${mismatch(name, 'an object', value)}`);
  const copy: Record<string, string> = {};
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== 'string') {
      throw new TypeError(`mcpTools: ${mismatch(`${name}.${key}`, 'a string', text)}`);
    }
    copy[key] = text;
  }
  return copy;
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

const isFactory = (source: unknown): source is () => unknown => typeof source === 'function';

/** By its methods: a program may hold the SDK more than once, and as ESM and CommonJS. */
const isClient = (source: unknown): source is Client =>
  hasMethods(source, ['request', 'notification', 'setNotificationHandler', 'getServerVersion']);

const isTransport = (source: unknown): source is Transport =>
  hasMethods(source, ['start', 'send', 'close']);

const hasMethods = (source: unknown, names: readonly string[]): boolean =>
  isRecord(source) && names.every((name) => typeof source[name] === 'function');
