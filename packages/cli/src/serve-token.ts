import {
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

import { errorMessage } from '@celestea/agent-loop';

import { misused, Refusal } from './exit.ts';
import type { CliIo } from './io.ts';
import { kindAt, shellWord, type Places } from './places.ts';
import { makeSessionFolder, sessionHome } from './session.ts';
import { quoted, safeLine } from './text.ts';

/** What a host takes for a token. */
const TOKEN = /^[A-Za-z0-9._~-]{16,256}$/;
const EXPECTED = 'expected a token, 16 to 256 of letters, digits and -._~';
const BYTES = 32;
/** Read and write, for group and others. */
const OF_OTHERS = 0o066;

/**
 * The token of a file, which is made with a new one when it is not there, else that of
 * `CELESTEA_TOKEN`; `null` for a new one each time. A file that somebody else than its owner can
 * use, the agent among them, is a {@link Refusal}. What is wrong with a token is not shown.
 */
export function findToken(
  file: string | null,
  env: CliIo['env'],
  { typedIn, root }: Places,
): string | null {
  const token = env['CELESTEA_TOKEN'] ?? '';
  if (file === null && token === '') return null;
  if (file === null && TOKEN.test(token)) return token;
  if (file === null) throw misused(`CELESTEA_TOKEN: ${EXPECTED}, got another text`);
  const path = resolve(typedIn, file);
  const shown = quoted(path);
  try {
    const kind = kindAt(path);
    if (kind !== 'a file' && kind !== 'nothing') {
      throw misused(`--token-file: expected a file, but ${shown} is none`);
    }
    if (dirname(path) === sessionHome(root)) makeSessionFolder(root);
    if (toolsCanRead(path, root)) {
      const advice = 'put it elsewhere, or into the .celestea of that folder';
      const problem = `lies in the folder that the agent reads and writes: ${advice}`;
      throw misused(`--token-file: ${shown} ${problem}`);
    }
    return kind === 'nothing' ? makeToken(path) : readToken(path);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw misused(`--token-file: ${shown} cannot be used: ${errorMessage(error)}`);
  }
}

/** What is looked at is the file that is read. */
function readToken(path: string): string {
  const file = openSync(path, 'r');
  try {
    const problem = ownerProblem(fstatSync(file), path);
    if (problem !== null) throw misused(`--token-file: ${quoted(path)} ${problem}`);
    const token = readFileSync(file, 'utf8').trim();
    if (TOKEN.test(token)) return token;
    throw misused(`--token-file: ${EXPECTED}, got another text in ${quoted(path)}`);
  } finally {
    closeSync(file);
  }
}

/** Who else can use the file; `null` when nobody can, or when the system does not say. */
function ownerProblem({ uid, mode }: Pick<Stats, 'uid' | 'mode'>, path: string): string | null {
  const own = process.geteuid?.();
  if (own === undefined) return null;
  if (uid !== own) return 'belongs to another user, who can read it: make one of your own';
  if ((mode & OF_OTHERS) === 0) return null;
  return `can be read or written by other users: chmod 600 ${safeLine(shellWord(path), 400)}`;
}

/** For its owner's eyes only. A file that somebody else has made meanwhile is left as it is. */
function makeToken(path: string): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(BYTES));
  const token = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  writeFileSync(path, `${token}\n`, { flag: 'wx', mode: 0o600 });
  return token;
}

/**
 * Whether the file tools over a root could read what stands at a path, or will: it lies in the
 * root, and not in the home of its sessions, which they leave alone. Throws what the disk throws.
 */
function toolsCanRead(path: string, root: string): boolean {
  const real = realPath(path);
  return isWithin(root, real) && !isWithin(sessionHome(root), real);
}

/** Of what is not there yet, the folder counts. */
function realPath(path: string): string {
  const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined;
  return isThere ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path));
}

/** What stands on the disk is compared, not names: two spellings may lead to one folder. */
function isWithin(folder: string, real: string): boolean {
  const wanted = identityOf(folder);
  if (wanted === null) return false;
  for (let above = dirname(real); ; above = dirname(above)) {
    if (identityOf(above) === wanted) return true;
    if (above === dirname(above)) return false;
  }
}

function identityOf(path: string): string | null {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? null : `${String(stats.dev)}:${String(stats.ino)}`;
}
