import { cutText } from '../text.ts';

const REASONS = new Map([
  ['ENOENT', 'does not exist'],
  ['ENOTDIR', 'goes through something that is not a folder'],
  ['EISDIR', 'is a folder'],
  ['ELOOP', 'is a symbolic link that may not be followed'],
  ['ENAMETOOLONG', 'is too long for a path'],
  ['EMFILE', 'could not be opened: too many files are open'],
  ['EROFS', 'is on a file system that may only be read'],
  ['ENOSPC', 'does not fit: no space is left on the device'],
  ['EDQUOT', 'does not fit: the quota is used up'],
]);

const FORBIDDEN = new Set(['EACCES', 'EPERM']);

/** A path as it stands in an error message. */
export function quotePath(path: string): string {
  return JSON.stringify(cutText(path, 200));
}

/** The code of a failed operation of Node, such as `ENOENT`. */
export function errorCode(error: unknown): string {
  const isCoded = error instanceof Error && 'code' in error && typeof error.code === 'string';
  return isCoded ? String(error.code) : 'no reason given';
}

/**
 * What is said of a failed file operation. Node's own message holds the absolute path, which is
 * none of the model's business, so neither it nor the cause is passed on.
 */
export function fsError(path: string, error: unknown, done: 'read' | 'written' = 'read'): Error {
  const code = errorCode(error);
  const other = FORBIDDEN.has(code)
    ? `may not be ${done} (permission denied)`
    : `could not be ${done} (${code})`;
  return new Error(`path: ${quotePath(path)} ${REASONS.get(code) ?? other}`);
}

/** What a failed file operation is caught with: it throws {@link fsError}. */
export const failAt =
  (path: string, done?: 'read' | 'written') =>
  (error: unknown): never => {
    throw fsError(path, error, done);
  };
