import { spawn, type ChildProcessWithoutNullStreams as Child } from 'node:child_process';

import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { deserializeMessage, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

import { endWithUs, forget, HAS_GROUPS, signalGroup } from '@celestea/tools/process-group';
import { isRecord } from '@celestea/core';
import { CLOSE_GRACE_MS, LEFTOVER_GRACE_MS, MAX_MESSAGE_BYTES } from './limits.ts';
import { MessageLines } from './message-lines.ts';
import type { McpCommand } from './source.ts';
import { Ending } from './stoppable.ts';
import { TextTail } from './text-tail.ts';

/**
 * A server as a child process that speaks over stdin and stdout. In place of the SDK's own
 * transport, which ends the child but not what the child started, waits for an output that a
 * grandchild holds open, and never settles a write to a child that is gone.
 */
export class ChildTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  readonly #command: McpCommand;
  readonly #lines = new MessageLines(MAX_MESSAGE_BYTES);
  readonly #stderr = new TextTail();
  readonly #garbage = new TextTail();
  readonly #gone = new Ending();
  #child: Child | null = null;
  #spoke = false;
  #fate: string | null = null;
  #closing: Promise<void> | null = null;

  constructor(command: McpCommand) {
    this.#command = command;
  }

  /** Resolves when the process runs; rejects when it cannot be started. */
  async start(): Promise<void> {
    const { command, args = [], env, cwd } = this.#command;
    const child: Child = spawn(command, [...args], {
      env: { ...getDefaultEnvironment(), ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: HAS_GROUPS,
      windowsHide: true,
      ...(cwd === undefined ? {} : { cwd }),
    });
    this.#child = child;
    this.#listen(child);
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.on('error', (error) => {
        if (child.pid === undefined) this.#finish(child, error.message);
        reject(error);
      });
    });
    if (child.pid !== undefined) endWithUs(child.pid, 'SIGTERM');
  }

  /** Resolves when the message is written; rejects when the process is gone. */
  async send(message: JSONRPCMessage): Promise<void> {
    const child = this.#child;
    if (child === null || this.#gone.error !== null) throw new Error('the server is not running');
    await new Promise<void>((resolve, reject) => {
      child.stdin.write(serializeMessage(message), (error) => {
        if (error === null || error === undefined) resolve();
        else reject(error);
      });
    });
  }

  /**
   * Resolves when the process and its group are gone. One that had something to say gets the
   * time to end by itself when its input ends; then the group is asked, then it is killed.
   */
  async close(): Promise<void> {
    this.#closing ??= this.#end();
    await this.#closing;
  }

  /** How the process ended, if it did, and the end of what it wrote on stderr. */
  lastWords(): string {
    const said = this.#stderr.text();
    const stray = this.#garbage.text();
    return [
      this.#fate,
      said === '' ? null : `its stderr ends with: ${said}`,
      stray === '' ? null : `its stdout has what is no message: ${stray}`,
    ]
      .filter((part) => part !== null)
      .join('; ');
  }

  #listen(child: Child): void {
    child.stdin.on('error', () => undefined); // the callback of the write has it
    child.stdout.on('error', () => undefined);
    child.stderr.on('error', () => undefined);
    child.stdout.on('data', (chunk: Buffer) => {
      const read = (line: string): void => {
        this.#read(line);
      };
      if (this.#lines.push(chunk, read)) return;
      this.#fate ??= `sent a message of more than ${String(MAX_MESSAGE_BYTES)} bytes`;
      signal(child, 'SIGKILL');
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr.add(text);
    });
    child.once('exit', (code, signal) => {
      this.#fate ??=
        signal === null ? `exited with code ${String(code)}` : `was ended by ${signal}`;
      void this.#sweep(child);
    });
    child.once('close', () => {
      this.#finish(child, 'ended');
    });
  }

  #read(line: string): void {
    if (this.#gone.error !== null || line.trim() === '') return;
    let message: JSONRPCMessage | null;
    try {
      message = deserializeMessage(line);
    } catch {
      message = malformedAnswer(line);
      if (message === null) this.#garbage.add(`${line}\n`);
    }
    if (message === null) return;
    this.#spoke = true;
    this.onmessage?.(message);
  }

  /** The process is gone; what it started may still hold its output open. */
  async #sweep(child: Child): Promise<void> {
    signal(child, 'SIGTERM');
    if (!(await this.#gone.within(LEFTOVER_GRACE_MS))) this.#finish(child, 'ended');
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child === null) {
      this.onclose?.();
      return;
    }
    child.stdin.end();
    if (this.#spoke && (await this.#gone.within(CLOSE_GRACE_MS))) return;
    signal(child, 'SIGTERM');
    if (await this.#gone.within(CLOSE_GRACE_MS)) return;
    signal(child, 'SIGKILL');
    await this.#gone.within(CLOSE_GRACE_MS);
    this.#finish(child, 'could not be ended');
  }

  #finish(child: Child, fate: string): void {
    this.#fate ??= fate;
    if (!this.#gone.end(new Error(this.#fate))) return;
    signal(child, 'SIGKILL');
    if (child.pid !== undefined) forget(child.pid);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    this.onclose?.();
  }
}

/** Whoever waits for an answer that cannot be read must hear of it; `null` when it is none. */
function malformedAnswer(line: string): JSONRPCMessage | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (!isRecord(value) || 'method' in value || typeof value['id'] !== 'number') return null;
  const message = 'the answer of the server is malformed';
  return { jsonrpc: '2.0', id: value['id'], error: { code: ErrorCode.InvalidRequest, message } };
}

/** Reaches the child and everything it started that stayed in its group. */
function signal(child: Child, name: NodeJS.Signals): void {
  if (child.pid !== undefined) signalGroup(child.pid, name);
}
