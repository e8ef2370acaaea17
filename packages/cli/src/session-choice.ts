import type { Given } from './options.ts';

/** Where the rows of a session go. */
export type SessionChoice =
  /** A new file in the sessions of the root folder. */
  | { readonly kind: 'new' }
  /** The file in there that was written last. */
  | { readonly kind: 'last' }
  /** This file, as it was given; what it holds goes on. */
  | { readonly kind: 'file'; readonly file: string; readonly mustExist: boolean }
  /** Nothing is kept. */
  | { readonly kind: 'none' };

/** Notes what is wrong with the options among the errors. */
export function readSessionChoice({ flags, values, errors }: Given): SessionChoice {
  const file = values.get('session');
  const isResumed = flags.has('resume');
  if (flags.has('no-session')) {
    const other = file === undefined ? '--resume' : '--session';
    if (file !== undefined || isResumed) {
      errors.push(`--no-session: expected neither --session nor --resume, got ${other}`);
    }
    return { kind: 'none' };
  }
  if (file === '') errors.push('--session: expected a file, got an empty text');
  if (file !== undefined) return { kind: 'file', file, mustExist: isResumed };
  return { kind: isResumed ? 'last' : 'new' };
}
