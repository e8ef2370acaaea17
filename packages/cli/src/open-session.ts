import { statSync, unlinkSync } from 'node:fs';
import { resolve } from 'node:path';

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

import type { Refusal } from './complain.ts';
import { EXIT } from './exit-code.ts';
import { formatBytes, formatCount } from './format.ts';
import { kindAt, pathFrom, shellWord } from './places.ts';
import type { SessionLabel } from './render.ts';
import { safeLine } from './safe-text.ts';
import type { SessionChoice } from './session-choice.ts';
import { lastSessionPath, newSessionPath, sessionFolder } from './session-folder.ts';

/** An open session. Closing it is up to who opened it. */
export interface Session {
  readonly ok: true;
  readonly log: SessionLog;
  /** Where its pictures are. */
  readonly attachments: AttachmentStore;
  /** What is told of its file; `null` when nothing is kept. */
  readonly label: SessionLabel | null;
  /** Makes every row durable and lets go of the file. Rejects when the disk fails. */
  readonly close: () => Promise<void>;
}

/** Where a session is opened. */
export interface SessionPlace {
  /** The folder whose files the agent reads. */
  readonly root: string;
  /** The folder in which the command was typed. */
  readonly typedIn: string;
  /** Told when a new session cannot be kept, and why; it goes on in memory. */
  readonly onUnkept: (reason: string) => void;
}

const LONGEST_PATH = 400;

/** Where the rows of a session are going to be; nothing is opened or made yet. */
export type FoundSession =
  | { readonly ok: true; readonly kind: 'none' | 'new' }
  /** `option` is who named it, for messages. */
  | { readonly ok: true; readonly kind: 'kept'; readonly option: string; readonly path: string };

/** Finds the session that was chosen, or gives what is wrong with the choice; never throws. */
export function findSession(
  choice: SessionChoice,
  place: Pick<SessionPlace, 'root' | 'typedIn'>,
): FoundSession | Refusal {
  switch (choice.kind) {
    case 'none':
    case 'new':
      return { ok: true, kind: choice.kind };
    case 'last':
      return findLast(place.root);
    case 'file':
      return findFile(choice.file, choice.mustExist, place.typedIn);
    default:
      return choice satisfies never;
  }
}

/** Opens a session, or gives what is wrong with it; never rejects. */
export async function openSession(
  found: FoundSession,
  place: SessionPlace,
): Promise<Session | Refusal> {
  switch (found.kind) {
    case 'none':
      return inMemory();
    case 'new':
      return openNew(place);
    case 'kept':
      return openKept(found.option, found.path, place.typedIn);
    default:
      return found satisfies never;
  }
}

function inMemory(): Session {
  return {
    ok: true,
    log: new InMemorySessionLog(),
    attachments: new InMemoryAttachmentStore(),
    label: null,
    close: () => Promise.resolve(),
  };
}

async function openNew({ root, typedIn, onUnkept }: SessionPlace): Promise<Session> {
  try {
    const session = await openAt(newSessionPath(root), typedIn);
    return {
      ...session,
      close: async () => {
        await session.close();
        removeEmpty(session.path);
      },
    };
  } catch (error) {
    onUnkept(`this session is not kept: ${errorMessage(error)}`);
    return inMemory();
  }
}

function findLast(root: string): FoundSession | Refusal {
  let path: string | null;
  try {
    path = lastSessionPath(root);
  } catch (error) {
    return misused(`--resume: ${errorMessage(error)}`);
  }
  if (path !== null) return { ok: true, kind: 'kept', option: '--resume', path };
  const folder = quoted(sessionFolder(root));
  return misused(`--resume: expected a session in ${folder}, but there is none`);
}

function findFile(file: string, mustExist: boolean, typedIn: string): FoundSession | Refusal {
  const path = resolve(typedIn, file);
  try {
    const kind = kindAt(path);
    if (kind === 'nothing' && mustExist) {
      return misused(`--session: expected a file to resume, but ${quoted(path)} does not exist`);
    }
    if (kind !== 'nothing' && kind !== 'file') {
      return misused(`--session: expected a file, but ${quoted(path)} is ${a(kind)}`);
    }
  } catch (error) {
    return misused(`--session: ${errorMessage(error)}`);
  }
  return { ok: true, kind: 'kept', option: '--session', path };
}

async function openKept(
  option: string,
  path: string,
  typedIn: string,
): Promise<Session | Refusal> {
  try {
    return await openAt(path, typedIn);
  } catch (error) {
    if (error instanceof SessionLogInUseError) return failed(error.message);
    if (error instanceof SessionLogDamagedError) {
      const check = `celestea check ${shellWord(pathFrom(typedIn, error.path))}`;
      return failed(`${error.message}; for more: ${check}`);
    }
    return misused(`${option}: ${quoted(path)} cannot be opened: ${errorMessage(error)}`);
  }
}

async function openAt(
  path: string,
  typedIn: string,
): Promise<Session & { readonly path: string }> {
  const log = await JsonlSessionLog.open(path);
  return {
    ok: true,
    log,
    attachments: new FileAttachmentStore(attachmentsFolderOf(log.path)),
    path: log.path,
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

const a = (kind: 'folder' | 'something else'): string => (kind === 'folder' ? 'a folder' : kind);

const quoted = (path: string): string => `"${safeLine(path, LONGEST_PATH)}"`;

const misused = (error: string): Refusal => ({ ok: false, code: EXIT.misuse, error });

const failed = (error: string): Refusal => ({ ok: false, code: EXIT.failed, error });
