import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

import { atEnd } from './at-end.ts';
import { serverOf } from './server.mjs';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** The well-behaved server as a process, over stdio. */
export const goodServer = { command: process.execPath, args: [path('server.mjs')] };

/** A small process over stdio, which in some way breaks the rules, and what its tool `a` gives. */
export const byHand = (way = 'good', result: unknown = {}): typeof goodServer => ({
  command: process.execPath,
  args: [path('by-hand.mjs'), way, JSON.stringify(result)],
});

/** The well-behaved server in this process. */
export async function inside(): Promise<Transport> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  await serverOf(Promise.resolve()).connect(far);
  return near;
}

/** The well-behaved server as a process that listens on 127.0.0.1, gone after the test. */
export class HttpServer {
  readonly #child: ChildProcess;
  readonly #lines: Interface;
  readonly #exited: Promise<unknown>;
  port = 0;

  private constructor(port: number) {
    const args = [path('server.mjs'), '--http', String(port)];
    this.#child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const { stdout } = this.#child;
    if (stdout === null) throw new Error('no stdout');
    this.#lines = createInterface({ input: stdout });
    this.#exited = once(this.#child, 'close');
  }

  static async start(port = 0): Promise<HttpServer> {
    const server = new HttpServer(port);
    atEnd(() => server.end());
    server.port = Number(await server.line());
    return server;
  }

  get source(): { url: string; headers: Record<string, string> } {
    return {
      url: `http://127.0.0.1:${String(this.port)}/mcp`,
      headers: { authorization: 'Bearer secret' },
    };
  }

  /** The next line of its output. */
  async line(): Promise<string> {
    const [line] = (await once(this.#lines, 'line')) as [string];
    return line;
  }

  async end(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }
}

export const hello = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: 'by hand', version: '1' },
};

type Answers = Record<string, (params: Record<string, unknown>) => unknown>;

/**
 * A server in this process that answers by hand: by method, the result, or an `Error` with the
 * code. It has one tool, `a`; a request without an answer stays open.
 */
export class ByHand implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  /** What it was sent. */
  readonly heard: JSONRPCMessage[] = [];
  closes = 0;
  readonly #answers: Answers;

  constructor(answers: Answers = {}) {
    this.#answers = {
      initialize: () => hello,
      'tools/list': () => ({ tools: [{ name: 'a' }] }),
      ...answers,
    };
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.heard.push(message);
    if (!('method' in message && 'id' in message)) return Promise.resolve();
    const { id, method, params = {} } = message;
    const result = this.#answers[method]?.(params);
    if (result instanceof Error && 'code' in result) {
      const { code, message: text } = result as Error & { code: number };
      this.say({ id, error: { code, message: text } });
    } else if (result !== undefined) this.say({ id, result });
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.closes += 1;
    this.onclose?.();
    return Promise.resolve();
  }

  /** Sends a message of its own, soon. */
  say(message: object): void {
    queueMicrotask(() => this.onmessage?.({ jsonrpc: '2.0', ...message } as JSONRPCMessage));
  }
}
