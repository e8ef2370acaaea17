import { spawn, type ChildProcessWithoutNullStreams as Child } from 'node:child_process';
import { once } from 'node:events';

import { isRecord } from '@celestea/core';
import { endGroup, endWithUs, forget, HAS_GROUPS } from '@celestea/tools/process-group';
import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { deserializeMessage, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

import { CLOSE_GRACE_MS, MAX_MESSAGE_BYTES } from './limits.ts';
import { after, Ending, stoppable } from './stoppable.ts';

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

/** What is kept of the end of its output, in UTF-16 units. */
const KEPT_OUTPUT = 1_000;

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
  readonly #graceMs: number;
  readonly #gone = new Ending();
  #child: Child | null = null;
  #spoke = false;
  #stderr = '';
  /** What came on stdout and is no message. */
  #stray = '';
  #fate: string | null = null;
  #closing: Promise<void> | null = null;

  constructor(command: McpCommand, graceMs: number = CLOSE_GRACE_MS) {
    this.#command = command;
    this.#graceMs = graceMs;
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
    if (child.pid !== undefined) endWithUs(child.pid, 'SIGTERM');
    this.#listen(child);
    await once(child, 'spawn');
  }

  /** Resolves when the message is written; rejects when the process is gone. */
  async send(message: JSONRPCMessage): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#child?.stdin.write(serializeMessage(message), (error) => {
        if (error) reject(error);
        else resolve();
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
    const words = this.#fate === null ? [] : [this.#fate];
    if (this.#stderr.trim() !== '') words.push(`its stderr ends with: ${ended(this.#stderr)}`);
    if (this.#stray !== '') words.push(`its stdout has what is no message: ${ended(this.#stray)}`);
    return words.join('; ');
  }

  #listen(child: Child): void {
    child.stdin.on('error', () => undefined); // the callback of the write has it
    child.stdout.on('error', () => undefined);
    child.stderr.on('error', () => undefined);
    let line = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      for (const [index, piece] of text.split('\n').entries()) {
        if (index > 0) this.#read(line);
        line = index > 0 ? piece : `${line}${piece}`;
      }
      if (line.length <= MAX_MESSAGE_BYTES) return; // it has at least as many bytes as units
      this.#fate ??= `sent a message of more than ${String(MAX_MESSAGE_BYTES)} bytes`;
      child.kill('SIGKILL');
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = tail(this.#stderr, text);
    });
    child.on('error', (error) => {
      if (child.pid === undefined) this.#finish(child, error.message);
    });
    child.once('exit', (code, signal) => {
      const fate = signal === null ? `exited with code ${String(code)}` : `was ended by ${signal}`;
      void this.#sweep(child, fate);
    });
  }

  #read(line: string): void {
    if (line.trim() === '') return;
    let message: JSONRPCMessage | null;
    try {
      message = deserializeMessage(line);
    } catch {
      message = malformedAnswer(line);
      if (message === null) this.#stray = tail(this.#stray, `${line}\n`);
    }
    if (message === null) return;
    this.#spoke = true;
    this.onmessage?.(message);
  }

  /** The process is gone; what it started may still run, and hold its output open. */
  async #sweep(child: Child, fate: string): Promise<void> {
    this.#fate ??= fate;
    const closed = new Promise((resolve) => child.once('close', resolve));
    const late = after(this.#graceMs, 'somebody else holds its output open');
    if (child.pid !== undefined) await endGroup(child.pid, this.#graceMs);
    await stoppable([late, this.#gone.stop], () => closed).catch(() => undefined);
    this.#finish(child, fate);
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined) return;
    child.stdin.end();
    if (this.#spoke && (await this.#gone.within(this.#graceMs))) return;
    await endGroup(child.pid, this.#graceMs);
    if (!(await this.#gone.within(this.#graceMs))) this.#finish(child, 'could not be ended');
  }

  #finish(child: Child, fate: string): void {
    this.#fate ??= fate;
    if (!this.#gone.end(new Error(this.#fate))) return;
    if (child.pid !== undefined) forget(child.pid);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    this.onclose?.();
  }
}

const tail = (text: string, more: string): string => `${text}${more}`.slice(-KEPT_OUTPUT);

/** A tail as it is shown, without half characters. */
const ended = (text: string): string => text.trim().toWellFormed();

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
