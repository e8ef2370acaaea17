import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const HOME = '.celestea';
const ENDING = '.jsonl';

/** Where the sessions of a root folder are kept. */
export function sessionFolder(root: string): string {
  return join(root, HOME, 'sessions');
}

/**
 * Makes the folder of the sessions, unless it is there, and gives its path. What is said in a
 * session is not for a repository, so that it is made with a `.gitignore`. Throws what the disk
 * throws.
 */
export function makeSessionFolder(root: string): string {
  const home = join(root, HOME);
  if (mkdirSync(home, { recursive: true }) !== undefined) {
    writeFileSync(join(home, '.gitignore'), '*\n');
  }
  const folder = sessionFolder(root);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/**
 * The path of a new session; makes the folder. The name is one that a host takes for the id of a
 * session: no capital letters. Throws what the disk throws.
 */
export function newSessionPath(root: string): string {
  const folder = makeSessionFolder(root);
  const time = new Date().toISOString().replace(/\.\d+Z$/, 'Z').replaceAll(':', '-');
  const id = `${time}-${globalThis.crypto.randomUUID().slice(0, 8)}`.toLowerCase();
  return join(folder, `${id}${ENDING}`);
}

/**
 * The session that was written last, or `null`. One in which nothing was said is none: a
 * prompt that was left at once must not hide the conversation before it. Throws what the disk
 * throws.
 */
export function lastSessionPath(root: string): string | null {
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

/** What is in a folder, in order; nothing in one that is not there. Throws what the disk throws. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    // not by `statSync`, to which newer versions of Node give no error for a file on the way there
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
