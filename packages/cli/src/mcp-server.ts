import { shown } from './options.ts';

/** A server as the command line names it. */
export type McpServer =
  | { readonly kind: 'command'; readonly command: string; readonly args: readonly string[] }
  | { readonly kind: 'url'; readonly url: string };

/** A server, or what was expected and what came. */
export type ReadMcpServer =
  | { readonly ok: true; readonly server: McpServer }
  | { readonly ok: false; readonly error: string };

const EXPECTED = 'expected a command with its arguments, or an http or https URL';

/** Reads the value of `--mcp`; never throws. */
export function readMcpServer(text: string): ReadMcpServer {
  // What stands in a URL may be a secret, so that one that is wrong is not shown.
  if (/^https?:/i.test(text)) {
    const isWhole = !/\s/.test(text) && URL.canParse(text);
    if (isWhole) return { ok: true, server: { kind: 'url', url: text } };
    return { ok: false, error: `${EXPECTED}, got a URL that cannot be read` };
  }
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
    return { ok: false, error: `${EXPECTED}, got a URL of another kind` };
  }
  const words = splitWords(text);
  if (words === null) {
    return { ok: false, error: `${EXPECTED}, got a quote or \\ without its end in ${shown(text)}` };
  }
  const [command, ...args] = words;
  if (command === undefined || command === '') {
    return { ok: false, error: `${EXPECTED}, got ${shown(text)}` };
  }
  return { ok: true, server: { kind: 'command', command, args } };
}

/** A stretch between quotes, or a character after `\`, or plain characters, or blanks. */
const PIECE = /'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])|([^\s'"\\]+)|(\s+)/y;

/**
 * Splits a text into words as a shell does, and does nothing else that a shell does: `'…'` holds
 * everything as it is, `"…"` everything but `\"` and `\\`, and `\` takes what follows as it is.
 * `null` when a quote or a `\` stands without its end.
 */
export function splitWords(text: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  PIECE.lastIndex = 0;
  while (PIECE.lastIndex < text.length) {
    const piece = PIECE.exec(text);
    if (piece === null) return null;
    const [, single, double, escaped, plain, blanks] = piece;
    if (blanks === undefined) {
      const part = single ?? double?.replace(/\\(["\\])/g, '$1') ?? escaped ?? plain ?? '';
      word = (word ?? '') + part;
    } else if (word !== null) {
      words.push(word);
      word = null;
    }
  }
  if (word !== null) words.push(word);
  return words;
}
