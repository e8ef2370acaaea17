import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { FakeToolRegistry, ScriptedLlm, type Script } from '@celestea/agent-loop/testing';
import { defaultAgentConfig, isRecord, type Llm, type ToolRegistry } from '@celestea/core';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { expect } from 'vitest';
import type { z } from 'zod';

import { errorReply } from '../src/http/schemas.ts';
import {
  createHost,
  serveHost,
  type ApprovalDesk,
  type Host,
  type HostOptions,
  type ServedHost,
} from '../src/index.ts';

export const TOKEN = 'a-token-that-nobody-guesses-0123456789-abcdef';
export const BEARER = { authorization: `Bearer ${TOKEN}` };
/** The name of the cookie that holds a token. */
export const cookieName = (token: string): string =>
  `celestea_token_${createHash('sha256').update(token).digest('hex').slice(0, 8)}`;
export const COOKIE = `${cookieName(TOKEN)}=${TOKEN}`;
export const JSON_TYPE = { 'content-type': 'application/json' };

export interface TestHostOptions extends Partial<Omit<HostOptions, 'parts'>> {
  readonly scripts?: readonly Script[];
  readonly llm?: Llm;
  readonly tools?: (desk: ApprovalDesk) => ToolRegistry;
}

/** A reply that was checked against its schema. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** Asks a host in-process, every reply held against the schema of its route. */
export class TestHost {
  readonly #before = new Map<string, number>();
  readonly host: Host;
  readonly folder: string;
  readonly llm: Llm;
  /** Where it listens, if it does. */
  port: number | null = null;

  constructor(host: Host, folder: string, llm: Llm) {
    this.host = host;
    this.folder = folder;
    this.llm = llm;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Reply> {
    return this.ask('GET', path, { headers: { ...BEARER, ...headers } });
  }

  post(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<Reply> {
    const all = { ...BEARER, ...JSON_TYPE, ...headers };
    return this.ask('POST', path, { headers: all, body: JSON.stringify(body) });
  }

  async ask(method: string, path: string, init: RequestInit): Promise<Reply> {
    return checkReply(this.host, method, path, await this.raw(method, path, init));
  }

  async raw(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    const port = this.port === null ? '' : `:${String(this.port)}`;
    if (!headers.has('host')) headers.set('host', `localhost${port}`);
    return this.host.app.request(path, { ...init, method, headers });
  }

  /** Makes a session and gives its id. */
  async session(): Promise<string> {
    const { body } = await this.post('/api/sessions');
    const id = String((body['session'] as Record<string, unknown>)['id']);
    const now = await this.get(`/api/sessions/${id}`);
    this.#before.set(id, Number(now.body['last_event_id']));
    return id;
  }

  /** The id that the first event of a session comes after. */
  before(id: string): number {
    return this.#before.get(id) ?? -1;
  }

  /** The events of a session, from the first on. */
  async events(id: string, lastEventId = this.before(id)): Promise<EventReader> {
    const path = `/api/sessions/${id}/events?lastEventId=${String(lastEventId)}`;
    const response = await this.raw('GET', path, { headers: BEARER });
    expect(response.status).toBe(200);
    return new EventReader(response);
  }

  /** Starts a turn and gives its id. */
  async turn(id: string, text = 'hello'): Promise<string> {
    const { status, body } = await this.post(`/api/sessions/${id}/turns`, { input: text });
    expect(status).toBe(202);
    return String(body['turn']);
  }

  /** Runs a turn to its last status, and gives what was told. */
  async wholeTurn(id: string, text = 'hello'): Promise<Event[]> {
    const reader = await this.events(id);
    const turn = await this.turn(id, text);
    const events = await reader.untilEnd(turn);
    await reader.close();
    return events;
  }
}

/** Checks what stands in every response, and the body against its schema. */
async function checkReply(
  host: Host,
  method: string,
  path: string,
  response: Response,
): Promise<Reply> {
  const text = await response.text();
  checkHead(response, text);
  expect(response.headers.get('content-type')).toBe('application/json');
  const body = JSON.parse(text) as Record<string, unknown>;
  const schema = response.ok ? schemaOf(host, method, path) : errorReply;
  expect(schema.parse(body), 'all of a reply is in its schema').toEqual(body);
  if (path !== '/api/openapi.json') expect(body['ok']).toBe(response.ok);
  return { status: response.status, headers: response.headers, body };
}

export function checkHead({ headers }: Response, text: string, caching = 'no-store'): void {
  expect(text).not.toContain(TOKEN);
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
  expect(headers.get('cache-control')).toBe(caching);
  expect(headers.get('access-control-allow-origin')).toBeNull();
}

function schemaOf(host: Host, method: string, path: string): z.ZodType {
  const [bare] = path.split('?', 1);
  const route = host.routes.find((known) => {
    const pattern = new RegExp(`^/api${known.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
    return known.method.toUpperCase() === method && pattern.test(bare ?? '');
  });
  const schema = route?.reply.schema;
  if (schema === undefined || schema === null) throw new Error(`no schema for ${method} ${path}`);
  return schema;
}

/** The refusal in a reply. */
export function errorOf({ body }: Reply): Record<string, unknown> {
  const { error } = body;
  if (!isRecord(error)) throw new Error('no error in the reply');
  return error;
}

/** A host in a folder of its own, closed and removed at the end. */
export async function withHost(
  { scripts = [], llm, tools, ...options }: TestHostOptions,
  work: (host: TestHost) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'celestea-http-'));
  const model = llm ?? new ScriptedLlm(scripts);
  const parts = {
    llm: model,
    tools: tools ?? ((): ToolRegistry => new FakeToolRegistry()),
    config: defaultAgentConfig({ model: 'scripted' }),
    progressMs: 1_000_000,
  };
  const host = createHost({ folder, token: TOKEN, parts, page: null, ...options });
  try {
    await work(new TestHost(host, folder, model));
  } finally {
    await host.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

// The server gives the signal of each request to a Request of Node's own, which listens on it for
// as long as the request is held: that is no listener of ours.
const guarded = globalThis.AbortController;
const unguarded = Object.getPrototypeOf(guarded) as typeof AbortController;

/** The same behind a real server on the loopback. */
export async function withServer(
  options: TestHostOptions,
  work: (server: ServedHost, host: TestHost) => Promise<void>,
): Promise<void> {
  await withHost(options, async (host) => {
    globalThis.AbortController = unguarded;
    const server = await serveHost(host.host, { closeMs: 0 });
    host.port = server.address.port;
    try {
      await work(server, host);
    } finally {
      await server.close();
      // What came of half a request is looked at by the server two timers later.
      for (let timer = 0; timer < 3; timer += 1) await new Promise((done) => setTimeout(done));
      globalThis.AbortController = guarded;
    }
  });
}

/** An event as a reader has it. */
export interface Event {
  readonly id: number;
  readonly name: string;
  readonly turn: string | null;
  readonly payload: Record<string, unknown>;
}

/** Reads server-sent events. */
export class EventReader {
  readonly seen: Event[] = [];
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  readonly #parser = createParser({
    onEvent: (message) => {
      this.seen.push(readEvent(message));
    },
  });

  constructor(response: Response) {
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    if (response.body === null) throw new Error('no body');
    this.#reader = (response.body as ReadableStream<Uint8Array>).getReader();
  }

  /** Reads on until an event fits; the ones before it are seen, too. */
  async until(fits: (event: Event) => boolean): Promise<Event> {
    for (;;) {
      const found = this.seen.find(fits);
      if (found !== undefined) return found;
      if (!(await this.more())) throw new Error(`the stream ended after ${this.words()}`);
    }
  }

  /** All up to the last status of a turn. */
  async untilEnd(turn: string): Promise<Event[]> {
    const isEnd = ({ turn: of, payload }: Event): boolean =>
      of === null && payload['turn'] === turn && payload['usage'] !== undefined;
    await this.until(isEnd);
    return this.seen;
  }

  /** Reads a chunk; `false` at the end. */
  async more(): Promise<boolean> {
    const { done, value } = await this.#reader.read();
    if (done) return false;
    this.#parser.feed(this.#decoder.decode(value, { stream: true }));
    return true;
  }

  words(): string {
    return this.seen.map(({ name, payload }) => name === 'status' ? String(payload['phase']) : name).join(' ');
  }

  async close(): Promise<void> {
    await this.#reader.cancel();
  }
}

function readEvent({ id, event, data }: EventSourceMessage): Event {
  const envelope = JSON.parse(data) as Record<string, unknown>;
  expect(Number(id)).toBe(envelope['seq']);
  const { turn, payload } = envelope;
  return {
    id: Number(id),
    name: event ?? '',
    turn: turn as string | null,
    payload: payload as Record<string, unknown>,
  };
}
