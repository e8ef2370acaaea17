import { mkdirSync, readdirSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { errorMessage } from '@celestea/agent-loop';
import type { AttachmentStore, SessionLog } from '@celestea/core';
import {
  attachmentsFolderOf,
  FileAttachmentStore,
  InMemoryAttachmentStore,
  InMemorySessionLog,
  JsonlSessionLog,
  SessionLogDamagedError,
  SessionLogInUseError,
} from '@celestea/session';
import { SESSION_HOME } from '@celestea/tools';

import { failed, misused } from './exit.ts';
import type { Options } from './options.ts';
import { kindAt, pathFrom, shellWord, type Places } from './places.ts';
import type { SessionLabel } from './render.ts';
import { formatBytes, formatCount, quoted } from './text.ts';

/** An open session. Closing it is up to who opened it. */
export interface Session {
  readonly log: SessionLog;
  /** Where its pictures are. */
  readonly attachments: AttachmentStore;
  /** What is told of its file; `null` when nothing is kept. */
  readonly label: SessionLabel | null;
  /** Makes every row durable and lets go of the file. Rejects when the disk fails. */
  readonly close: () => Promise<void>;
}

/**
 * Finds the session that the options choose; nothing is opened or made until what it gives is
 * called. Both throw a {@link Refusal}: of the choice, and of what stands in the file. `onUnkept`
 * is told when a new session cannot be kept, and why; it goes on in memory.
 */
export function findSession(
  { session: file, resume, noSession }: Options,
  places: Places,
  onUnkept: (reason: string) => void,
): () => Promise<Session> {
  if (noSession) return () => Promise.resolve(inMemory());
  if (!resume && file === null) return () => openNew(places, onUnkept);
  const [option, path] =
    file === null ? ['--resume', findLast(places)] : ['--session', findFile(file, resume, places)];
  return () => openKept(option, path, places);
}

function inMemory(): Session {
  return {
    log: new InMemorySessionLog(),
    attachments: new InMemoryAttachmentStore(),
    label: null,
    close: () => Promise.resolve(),
  };
}

async function openNew(places: Places, onUnkept: (reason: string) => void): Promise<Session> {
  try {
    const path = newSessionPath(places.root);
    const session = await openAt(path, places);
    return {
      ...session,
      close: async () => {
        await session.close();
        removeEmpty(path);
      },
    };
  } catch (error) {
    onUnkept(`this session is not kept: ${errorMessage(error)}`);
    return inMemory();
  }
}

function findLast({ root }: Places): string {
  const path = orMisused('--resume', () => lastSessionPath(root));
  if (path !== null) return path;
  throw misused(`--resume: expected a session in ${quoted(sessionFolder(root))}, but there is none`);
}

function findFile(file: string, mustExist: boolean, { typedIn }: Places): string {
  const path = resolve(typedIn, file);
  const kind = orMisused('--session', () => kindAt(path));
  if (kind === 'nothing' && mustExist) {
    throw misused(`--session: expected a file to resume, but ${quoted(path)} does not exist`);
  }
  if (kind === 'nothing' || kind === 'a file') return path;
  throw misused(`--session: expected a file, but ${quoted(path)} is ${kind}`);
}

/** What the disk says of it; what it throws is misuse of the option that led there. */
function orMisused<Found>(option: string, look: () => Found): Found {
  try {
    return look();
  } catch (error) {
    throw misused(`${option}: ${errorMessage(error)}`);
  }
}

async function openKept(option: string, path: string, places: Places): Promise<Session> {
  try {
    return await openAt(path, places);
  } catch (error) {
    if (error instanceof SessionLogInUseError) throw failed(error.message);
    if (error instanceof SessionLogDamagedError) {
      const check = `celestea check ${shellWord(pathFrom(places.typedIn, error.path))}`;
      throw failed(`${error.message}; for more: ${check}`);
    }
    throw misused(`${option}: ${quoted(path)} cannot be opened: ${errorMessage(error)}`);
  }
}

async function openAt(path: string, { typedIn }: Places): Promise<Session> {
  const log = await JsonlSessionLog.open(path);
  return {
    log,
    attachments: new FileAttachmentStore(attachmentsFolderOf(log.path)),
    label: { file: pathFrom(typedIn, log.path), found: foundIn(log) },
    close: () => log.close(),
  };
}

/** What opening an older session found and did, for people. */
function foundIn(log: JsonlSessionLog): string | null {
  const { rows, tornBytes, interruptedTurn } = log.report;
  const found: string[] = [];
  if (rows > 0) found.push(`resumed with ${formatCount(log.deriveMessages().length, 'message')}`);
  if (tornBytes > 0) found.push(`cut off a torn end of ${formatBytes(tornBytes)}`);
  if (interruptedTurn !== null) found.push(`closed ${interruptedTurn}, which was interrupted`);
  return found.length === 0 ? null : found.join(' · ');
}

/** A prompt that was left without a word leaves no file. */
function removeEmpty(path: string): void {
  try {
    if (statSync(path).size === 0) unlinkSync(path);
  } catch {
    // it is gone, or the folder is read-only by now; an empty file does no harm
  }
}

const ENDING = '.jsonl';

/** The folder of a root that holds its sessions, and what guards them may be. */
export const sessionHome = (root: string): string => join(root, SESSION_HOME);

/** Where the sessions of a root folder are kept. */
export const sessionFolder = (root: string): string => join(sessionHome(root), 'sessions');

/**
 * Makes the folder of the sessions, unless it is there, and gives its path. What is said in a
 * session is not for a repository, so that it is made with a `.gitignore`. Throws what the disk
 * throws.
 */
export function makeSessionFolder(root: string): string {
  const home = sessionHome(root);
  if (mkdirSync(home, { recursive: true }) !== undefined) {
    writeFileSync(join(home, '.gitignore'), '*\n');
  }
  const folder = sessionFolder(root);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** The name is one that a host takes for the id of a session: no capital letters. */
function newSessionPath(root: string): string {
  const time = new Date().toISOString().replace(/\.\d+Z$/, 'Z').replaceAll(':', '-');
  const id = `${time}-${globalThis.crypto.randomUUID().slice(0, 8)}`.toLowerCase();
  return join(makeSessionFolder(root), `${id}${ENDING}`);
}

/**
 * The session that was written last, or `null`. One in which nothing was said is none: a
 * prompt that was left at once must not hide the conversation before it.
 */
function lastSessionPath(root: string): string | null {
  const folder = sessionFolder(root);
  let last: { readonly path: string; readonly time: number } | null = null;
  for (const name of namesIn(folder)) {
    if (!name.endsWith(ENDING)) continue;
    const path = join(folder, name);
    const file = statSync(path, { throwIfNoEntry: false });
    if (file?.isFile() !== true || file.size === 0) continue;
    if (last === null || file.mtimeMs >= last.time) last = { path, time: file.mtimeMs };
  }
  return last?.path ?? null;
}

/** What is in a folder, in order; nothing in one that is not there. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    // not by `statSync`, to which newer versions of Node give no error for a file on the way there
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
