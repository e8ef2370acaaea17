import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';

/** The folder of a root that holds its sessions, and what guards the agent. */
export const SESSION_HOME = '.celestea';

/** What is said of each path to it or below it, whether something stands there or not. */
export const inSessionHome = (): Error =>
  new Error(`path: ${JSON.stringify(SESSION_HOME)} holds the sessions and is not for tools`);

/** Whether it is the name of the home, as a folder lists it. */
export const isSessionHomeName = (name: string): boolean => name === SESSION_HOME;

/**
 * Whether a path without links is the home of the sessions of `root` or lies below it. What stands
 * on the disk is compared and not names: the home may be a link, and there are disks where
 * `.CELESTEA` is the same folder.
 */
export async function isInSessionHome(root: string, real: string): Promise<boolean> {
  const home = await realpath(join(root, SESSION_HOME)).catch(() => null);
  if (home === null) return false;
  const toHome = namesBelow(root, home);
  const names = namesBelow(root, real);
  if (toHome === null || names === null || names.length < toHome.length) return false;
  return isSamePlace(home, join(root, ...names.slice(0, toHome.length)));
}

/**
 * Whether something new in a folder of `root` would be its home of sessions or lie below it. With
 * nothing there to compare, a name is enough that some disks take for the same.
 */
export async function wouldBeInSessionHome(
  root: string,
  folder: string,
  name: string,
): Promise<boolean> {
  if (folder === root && name.normalize('NFKC').toLowerCase() === SESSION_HOME) return true;
  return isInSessionHome(root, join(folder, name));
}

/** The names on the way down from a folder to a path; `null` when it does not lie there. */
function namesBelow(folder: string, path: string): string[] | null {
  const way = relative(folder, path);
  if (way === '') return [];
  const names = way.split(sep);
  return names[0] === '..' || isAbsolute(way) ? null : names;
}

async function isSamePlace(one: string, other: string): Promise<boolean> {
  const looks = [one, other].map((path) => stat(path, { bigint: true }).catch(() => null));
  const [a, b] = await Promise.all(looks);
  return a?.dev === b?.dev && a?.ino === b?.ino && a != null;
}
