import { expectThat, isRecord } from '@celestea/core';

/** What a command needs to find its way; none of these is a secret. */
const SAFE_NAMES = 'HOME LANG LC_ALL LC_CTYPE LOGNAME SHELL TMPDIR TZ USER'.split(' ');

const PLAIN_PATH = '/usr/local/bin:/usr/bin:/bin';

/**
 * The environment of a command: a few names of our own, `TERM=dumb`, and what is added. All else
 * stays here, keys and tokens above all. Relative folders are taken out of `PATH`, or a file that
 * lies in the folder could pass for a program of the system.
 */
export function commandEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  added: Readonly<Record<string, string>>,
): Record<string, string> {
  const given: Record<string, string> = {};
  for (const name of SAFE_NAMES) {
    const value = own[name];
    if (value !== undefined) given[name] = value;
  }
  const folders = (own['PATH'] ?? '').split(':').filter((folder) => folder.startsWith('/'));
  const path = folders.length === 0 ? PLAIN_PATH : folders.join(':');
  return { ...given, PATH: path, TERM: 'dumb', ...added };
}

/** A copy of the variables a host adds. Throws a `TypeError` that names the one it cannot use. */
export function readAddedEnvironment(env: unknown): Record<string, string> {
  if (env === undefined) return {};
  expectThat(isRecord(env), 'env', 'an object of strings', env);
  const added: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    expectThat(/^[^=\0]+$/.test(name), 'env', "names without '=' and NUL", name);
    if (typeof value !== 'string' || value.includes('\0')) {
      // The value may be a secret: it is not shown.
      throw new TypeError(`env.${name}: expected a string without NUL, got something else`);
    }
    added[name] = value;
  }
  return added;
}
