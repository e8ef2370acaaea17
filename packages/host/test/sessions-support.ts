import { mkdtempSync, rmSync } from 'node:fs';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { FakeToolRegistry } from '@celestea/agent-loop/testing';
import {
  defaultAgentConfig,
  serializeSessionEvent,
  type AgentConfig,
  type Llm,
  type SessionEvent,
  type ToolRegistry,
} from '@celestea/core';
import { JsonlSessionLog, type FileSystem } from '@celestea/session';
import { onTestFinished } from 'vitest';

import type { Publish } from '../src/events/index.ts';
import { HostError, type LiveSessionParts } from '../src/sessions/index.ts';
import { LiveSession } from '../src/sessions/live-session.ts';

/** A folder of the test's own, removed when it is over. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'celestea-host-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** Rows as a file has them. */
export const fileText = (rows: readonly SessionEvent[]): string =>
  rows.map((row) => `${serializeSessionEvent(row)}\n`).join('');

/** A turn in words. */
export const turnRows = (number: number, input: string, reply: string): SessionEvent[] => [
  { type: 'turn_start', id: `turn-${String(number)}` },
  { type: 'user_message', text: input },
  { type: 'assistant_message', text: reply },
  { type: 'turn_end', id: `turn-${String(number)}`, outcome: 'completed' },
];

/** A `HostEvent`, of whatever name. */
export interface SeenEvent {
  readonly name: string;
  readonly turn: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Keeps what was published, and waits for it. */
export class Reader {
  readonly events: SeenEvent[] = [];
  readonly #waiting: { fits: (event: SeenEvent) => boolean; resolve: (event: SeenEvent) => void }[] =
    [];

  readonly publish: Publish = ({ name, turn, payload }) => {
    const event = { name, turn, payload: { ...payload } };
    this.events.push(event);
    for (const waiting of [...this.#waiting]) {
      if (!waiting.fits(event)) continue;
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      waiting.resolve(event);
    }
  };

  /** The first event that fits, of those that were published or else are going to be. */
  until(fits: (event: SeenEvent) => boolean): Promise<SeenEvent> {
    const there = this.events.find(fits);
    if (there !== undefined) return Promise.resolve(there);
    return new Promise((resolve) => {
      this.#waiting.push({ fits, resolve });
    });
  }

  /** The first status of a phase. */
  status(phase: string): Promise<SeenEvent> {
    return this.until(({ name, payload }) => name === 'status' && payload['phase'] === phase);
  }

  /** How the turn ended. */
  end(turn: string): Promise<SeenEvent> {
    return this.until(
      ({ name, turn: of, payload }) => name === 'status' && of === null && payload['turn'] === turn,
    );
  }

  /** Each event in a word: its name, or the phase of its status. */
  words(): string[] {
    return this.events.map(({ name, payload }) =>
      name === 'status' ? String(payload['phase']) : name,
    );
  }
}

/** Parts with what a test wants of its own. */
export function partsOf(
  llm: Llm,
  { tools, config, ...rest }: {
    tools?: (desk: LiveSession['approvals']) => ToolRegistry;
    config?: Partial<AgentConfig>;
    progressMs?: number;
    now?: () => number;
  } = {},
): LiveSessionParts {
  return {
    llm,
    tools: tools ?? ((): ToolRegistry => new FakeToolRegistry()),
    config: defaultAgentConfig(config),
    ...rest,
  };
}

/** A live session over a new log, closed when the test is over. */
export async function liveSession(
  parts: LiveSessionParts,
  fileSystem?: FileSystem,
): Promise<{ session: LiveSession; reader: Reader; path: string; rows: () => SessionEvent[] }> {
  const path = join(testFolder(), 'a-session.jsonl');
  const log = await JsonlSessionLog.open(path, fileSystem === undefined ? {} : { fileSystem });
  const reader = new Reader();
  const onIdle = (): void => undefined;
  const session = new LiveSession({ id: 'a-session', log, publish: reader.publish, parts, onIdle });
  onTestFinished(async () => {
    await session.close().catch(() => undefined);
  });
  return { session, reader, path, rows: () => log.events() };
}

/** The code of what was thrown or rejected with, which has to be a `HostError`. */
export async function codeOf(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    if (error instanceof HostError) return error.code;
    throw error;
  }
  return 'no error';
}

/** Lets everything go on that waits for a turn of the event loop. */
export const othersTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/** The real disk, which fails on demand. */
export class FaultyDisk implements FileSystem {
  onWrite: (text: string) => void = () => undefined;
  syncError: Error | null = null;

  openSync(path: string, flags: string): number {
    return fs.openSync(path, flags);
  }

  closeSync(fd: number): void {
    fs.closeSync(fd);
  }

  readSync(fd: number, into: Uint8Array, start: number, length: number, at: number): number {
    return fs.readSync(fd, into, start, length, at);
  }

  writeSync(fd: number, bytes: Uint8Array, start: number, length: number): number {
    this.onWrite(new TextDecoder().decode(bytes.subarray(start, start + length)));
    return fs.writeSync(fd, bytes, start, length);
  }

  ftruncateSync(fd: number, length: number): void {
    fs.ftruncateSync(fd, length);
  }

  fstatSync(fd: number): fs.Stats {
    return fs.fstatSync(fd);
  }

  statSync(path: string): fs.Stats {
    return fs.statSync(path);
  }

  fsyncSync(fd: number): void {
    fs.fsyncSync(fd);
  }

  fdatasync(fd: number, done: (error: Error | null) => void): void {
    fs.fdatasync(fd, (error) => {
      done(this.syncError ?? error);
    });
  }
}

export const diskError = (code: 'ENOSPC' | 'EIO'): Error =>
  Object.assign(new Error(`${code}: injected`), { code });
