import { lstat, mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

import type { SessionEvent } from '@celestea/core';
import { JsonlSessionLog, sessionLogHolder } from '@celestea/session';

import { HostError, logFailure, withLogFaults } from './host-error.ts';
import { isSessionId, newSessionId } from './session-id.ts';
import { readSummary, type SessionSummary } from './session-summary.ts';

const ENDING = '.jsonl';
/** Files of a list that are read side by side. */
const AT_A_TIME = 16;
/** Around what is damaged. */
const TO_READ = { readOnly: true, onDamage: 'skip' } as const;

/**
 * A folder of sessions, each the JSONL log `<id>.jsonl` in it. An id that is none is a session
 * that is not there, so that no request leads out of the folder; nor does a symbolic link, for
 * only regular files are sessions.
 *
 * Methods reject with a {@link HostError}: `not_found` for a session that is not there, `busy`
 * for one that another process writes, `damaged` for a damaged one, `failed` for what the disk
 * does.
 */
export class SessionStore {
  /** As it was given. */
  readonly folder: string;

  /** Touches nothing; the folder is made with its first session. */
  constructor(folder: string) {
    this.folder = folder;
  }

  /** Makes an empty session, for its owner's eyes only, and gives its id. */
  async create(): Promise<string> {
    const id = newSessionId(Date.now());
    return withLogFaults(id, async () => {
      await mkdir(this.folder, { recursive: true, mode: 0o700 });
      const file = await open(this.#path(id), 'wx', 0o600);
      await file.close();
      return id;
    });
  }

  /**
   * Every session, the one written last first. Only the ends of each file are read; a damaged
   * one, one in use and one that cannot be read are among them, with what is known.
   */
  async list(): Promise<SessionSummary[]> {
    const ids = await this.#ids();
    const found: SessionSummary[] = [];
    for (let from = 0; from < ids.length; from += AT_A_TIME) {
      const some = ids.slice(from, from + AT_A_TIME);
      const read = await Promise.all(some.map((id) => readSummary(id, this.#path(id))));
      found.push(...read.filter((summary) => summary !== null));
    }
    return found.sort((a, b) => b.changed_ms - a.changed_ms || (a.id < b.id ? 1 : -1));
  }

  /** What a list says of one session. */
  async summary(id: string): Promise<SessionSummary> {
    const summary = await readSummary(id, await this.#existing(id));
    if (summary !== null) return summary;
    throw new HostError('not_found', `there is no session ${id}`); // removed meanwhile
  }

  /** Every row of a session, read around what is damaged; it may be written meanwhile. */
  async rows(id: string): Promise<SessionEvent[]> {
    const path = await this.#existing(id);
    return withLogFaults(id, async () => (await JsonlSessionLog.open(path, TO_READ)).events());
  }

  /**
   * Opens a session for writing; whoever opened it closes it. A turn that was running when its
   * process died is ended by that.
   */
  async open(id: string): Promise<JsonlSessionLog> {
    const path = await this.#existing(id);
    return withLogFaults(id, () => JsonlSessionLog.open(path));
  }

  /**
   * Whether somebody writes a session that is there, this process included; at once, so that
   * it is of the same instant as what else is known.
   */
  isHeld(id: string): boolean {
    try {
      return sessionLogHolder(this.#path(id)).held;
    } catch (error) {
      throw logFailure(id, error);
    }
  }

  /**
   * Makes a session with the rows of another up to the end of one of its turns, and gives its
   * id. The other may be open. A turn that has not ended there is `invalid`. Pictures are not
   * copied.
   */
  async fork(id: string, turnId: string): Promise<string> {
    const path = await this.#existing(id);
    const forked = newSessionId(Date.now());
    try {
      const log = await JsonlSessionLog.open(path, TO_READ);
      const copy = await log.fork(this.#path(forked), turnId);
      await copy.close();
    } catch (error) {
      if (!(error instanceof RangeError)) throw logFailure(id, error);
      const message = `session ${id} has no turn of that id that has ended`;
      throw new HostError('invalid', message, { cause: error });
    }
    return forked;
  }

  async #ids(): Promise<string[]> {
    try {
      const names = await readdir(this.folder);
      const ids = names
        .filter((name) => name.endsWith(ENDING))
        .map((name) => name.slice(0, -ENDING.length));
      return ids.filter(isSessionId);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return [];
      throw new HostError('failed', `the sessions cannot be listed: ${String(code)}`, {
        cause: error,
      });
    }
  }

  #path(id: string): string {
    return join(this.folder, `${id}${ENDING}`);
  }

  /** The path of a session that is there. */
  async #existing(id: string): Promise<string> {
    if (!isSessionId(id)) throw new HostError('not_found', 'there is no such session');
    const path = this.#path(id);
    try {
      if ((await lstat(path)).isFile()) return path;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' && code !== 'ENOTDIR') throw logFailure(id, error);
    }
    throw new HostError('not_found', `there is no session ${id}`);
  }
}
