import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { errorMessage } from '@celestea/agent-loop';

import type { Refusal } from './complain.ts';
import { EXIT } from './exit-code.ts';
import type { CliIo } from './io.ts';
import { kindAt } from './places.ts';
import { safeLine } from './safe-text.ts';

/** What callers have to show; `null` for a new one. */
export type FoundToken = { readonly ok: true; readonly token: string | null } | Refusal;

/** Where a token may be. */
export interface TokenPlaces {
  readonly env: CliIo['env'];
  /** Where the person is. */
  readonly typedIn: string;
}

/** What a host takes for a token. */
const TOKEN = /^[A-Za-z0-9._~-]{16,256}$/;
const EXPECTED = 'expected a token, 16 to 256 of letters, digits and -._~';
const BYTES = 32;

/**
 * The token of a file, which is made with a new one when it is not there, else that of
 * `CELESTEA_TOKEN`. What is wrong with one is not shown. Never throws.
 */
export function findToken(file: string | null, { env, typedIn }: TokenPlaces): FoundToken {
  if (file !== null) return tokenIn(resolve(typedIn, file));
  const token = env['CELESTEA_TOKEN'] ?? '';
  if (token === '' || TOKEN.test(token)) return { ok: true, token: token === '' ? null : token };
  return misused(`CELESTEA_TOKEN: ${EXPECTED}, got another text`);
}

function tokenIn(path: string): FoundToken {
  const shown = `"${safeLine(path, 400)}"`;
  try {
    const kind = kindAt(path);
    if (kind === 'nothing') return { ok: true, token: makeToken(path) };
    if (kind !== 'file') return misused(`--token-file: expected a file, but ${shown} is none`);
    const token = readFileSync(path, 'utf8').trim();
    if (TOKEN.test(token)) return { ok: true, token };
    return misused(`--token-file: ${EXPECTED}, got another text in ${shown}`);
  } catch (error) {
    return misused(`--token-file: ${shown} cannot be used: ${errorMessage(error)}`);
  }
}

/** For its owner's eyes only. A file that somebody else has made meanwhile is left as it is. */
function makeToken(path: string): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(BYTES));
  const token = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  writeFileSync(path, `${token}\n`, { flag: 'wx', mode: 0o600 });
  return token;
}

const misused = (error: string): Refusal => ({ ok: false, code: EXIT.misuse, error });
