import { cutText } from '../text.ts';

const REASONS = new Map([
  ['ENOENT', 'does not exist'],
  ['ENOTDIR', 'goes through something that is not a folder'],
  ['EISDIR', 'is a folder'],
  ['EACCES', 'may not be read (permission denied)'],
  ['EPERM', 'may not be read (permission denied)'],
  ['ELOOP', 'is a symbolic link that may not be followed'],
  ['ENAMETOOLONG', 'is too long for a path'],
  ['EMFILE', 'could not be opened: too many files are open'],
]);

/** A path as it stands in an error message. */
export function quotePath(path: string): string {
  return JSON.stringify(cutText(path, 200));
}

/**
 * What is said of a failed file operation. Node's own message holds the absolute path, which is
 * none of the model's business, so neither it nor the cause is passed on.
 */
export function fsError(path: string, error: unknown): Error {
  const isCoded = error instanceof Error && 'code' in error && typeof error.code === 'string';
  const code = isCoded ? String(error.code) : 'no reason given';
  const reason = REASONS.get(code) ?? `could not be read (${code})`;
  return new Error(`path: ${quotePath(path)} ${reason}`);
}
