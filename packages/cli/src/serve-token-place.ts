import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { sessionFolder } from './session-folder.ts';

/**
 * Whether the file tools over a root could read what stands at a path, or will: it lies in the
 * root, and not in the home of its sessions, which they leave alone. Throws what the disk throws.
 */
export function toolsCanRead(path: string, root: string): boolean {
  const real = realPath(path);
  return isWithin(root, real) && !isWithin(sessionHome(root), real);
}

/** Where the sessions of a root are kept, and what guards them may be. */
export const sessionHome = (root: string): string => dirname(sessionFolder(root));

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
