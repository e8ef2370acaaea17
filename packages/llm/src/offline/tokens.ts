/** What a word of a question looks like. */
export type TokenKind = 'path' | 'folder' | 'code' | 'quoted' | 'word';

/** One word of a question, or one quoted stretch. */
export interface Token {
  readonly kind: TokenKind;
  /** Without quotes and the punctuation around it. */
  readonly text: string;
  /** As it was written. */
  readonly raw: string;
  /** The line that a path names (`src/loop.ts:42`). */
  readonly line: number | null;
  /** Whether a comma, a full stop or the like ends a clause here. */
  readonly breaks: boolean;
}

const MAX_TOKEN = 300;

const EXTENSIONS: ReadonlySet<string> = new Set(
  (
    'md mdx txt rst adoc ts tsx mts cts js jsx mjs cjs json jsonl json5 yaml yml toml ini cfg ' +
    'conf env lock xml html htm css scss svg csv sql sh bash ps1 py rb rs go java kt swift c h ' +
    'cc cpp hpp cs php lua vue svelte log diff patch ipynb tf proto graphql'
  ).split(' '),
);

const PRODUCTS = /^(node|next|vue|react|express|nuxt|three|d3|deno|bun|angular|ember)\.js$/i;

/** Whether it is the name of a product, and of no file. */
export const isProduct = (name: string): boolean => PRODUCTS.test(name);

const KNOWN_NAMES: ReadonlyMap<string, string> = new Map([
  ['README', 'README.md'],
  ['CHANGELOG', 'CHANGELOG.md'],
  ['CONTRIBUTING', 'CONTRIBUTING.md'],
  ['LICENSE', 'LICENSE'],
  ['Dockerfile', 'Dockerfile'],
  ['Makefile', 'Makefile'],
]);

/** Folder names that need no `/` to be recognised after `in`. */
export const USUAL_FOLDERS: readonly string[] = [
  'src',
  'lib',
  'app',
  'packages',
  'docs',
  'test',
  'tests',
  'examples',
  'scripts',
  'config',
  'bin',
  'bench',
  'contracts',
];

const PIECES = /`[^`\n]+`|"[^"\n]+"|“[^”\n]+”|(?<![\p{L}\p{N}])'[^'\n]+'(?![\p{L}\p{N}])|\S+/gu;

/** Takes a question apart into words, paths, code names and quoted stretches. */
export function tokenize(question: string): Token[] {
  const shouting = !/\p{Ll}/u.test(question);
  const tokens: Token[] = [];
  for (const [piece] of question.matchAll(PIECES)) {
    const token = readToken(piece.slice(0, MAX_TOKEN), shouting);
    if (token.text !== '' || token.breaks) tokens.push(token);
  }
  return tokens;
}

function readToken(raw: string, shouting: boolean): Token {
  const inQuotes = /^(?:`(.+)`|"(.+)"|“(.+)”|'(.+)')$/su.exec(raw);
  const inner = inQuotes?.slice(1).find((group: string | undefined) => group !== undefined);
  if (inner !== undefined) return { ...classifyQuoted(inner.trim()), raw, breaks: false };
  const breaks = /[,;:?!.…]["')\]]*$/u.test(raw);
  const opened = raw.replace(/^[([{<"'“‘*]+/u, '').replace(/[,.;:!?…"'”’*]+$/u, '');
  if (isCall(opened)) return { ...named('code', beforeParenthesis(opened)), raw, breaks };
  const bare = opened.replace(/[)\]}>"'”’*,.;:!?…]+$/u, '');
  return { ...classify(bare, shouting), raw, breaks };
}

type Classified = Pick<Token, 'kind' | 'text' | 'line'>;

const named = (kind: TokenKind, text: string): Classified => ({ kind, text, line: null });

function classifyQuoted(inner: string): Classified {
  const path = asPath(inner);
  if (path !== null) return path;
  if (isCall(inner)) return named('code', beforeParenthesis(inner));
  return /^[\w.-]+\/$/.test(inner) ? named('folder', withoutSlash(inner)) : named('quoted', inner);
}

function classify(text: string, shouting: boolean): Classified {
  const path = asPath(text);
  if (path !== null) return path;
  if (isFolder(text)) return named('folder', withoutSlash(text));
  return named(isCode(text, shouting) ? 'code' : 'word', text);
}

function asPath(text: string): Classified | null {
  const known = KNOWN_NAMES.get(text) ?? (/^readme$/i.test(text) ? 'README.md' : undefined);
  if (known !== undefined) return named('path', known);
  const parts = /^(.+?)(?::(\d{1,7})(?::\d+)?|#L(\d{1,7}).*)?$/.exec(text);
  const name = parts?.[1] ?? text;
  if (name.includes('://') || isProduct(name) || /[*?<>|{}()]/.test(name)) return null;
  const extension = /[^/\\]\.([A-Za-z][A-Za-z0-9]{0,9})$/.exec(name)?.[1]?.toLowerCase();
  const hidden = /(^|\/)\.(gitignore|npmrc|env|editorconfig|nvmrc|dockerignore)$/.test(name);
  const isFile = extension !== undefined && (EXTENSIONS.has(extension) || /[/\\]/.test(name));
  if (!isFile && !hidden) return null;
  const line = parts?.[2] ?? parts?.[3];
  return { kind: 'path', text: name, line: line === undefined ? null : Number(line) };
}

function isFolder(text: string): boolean {
  if (!/^[\w.@-]+(\/[\w.@-]+)*\/?$/.test(text) || !text.includes('/')) return false;
  if (text.endsWith('/')) return true;
  const first = text.split('/')[0] ?? '';
  return first === '.' || first === '..' || USUAL_FOLDERS.includes(first);
}

const withoutSlash = (text: string): string => text.replace(/\/+$/, '') || text;

const isCall = (text: string): boolean => /^[A-Za-z_$][\w$.]*\([^()]*\)$/.test(text);

const beforeParenthesis = (text: string): string => text.slice(0, text.indexOf('('));

function isCode(text: string, shouting: boolean): boolean {
  if (/^@[\w-]+\/[\w.-]+$/.test(text)) return true;
  if (/^[A-Z]\d+(\.\d+)*$/.test(text)) return true;
  if (/^[A-Za-z_$][\w$]+(\.[A-Za-z_$][\w$]+)+$/.test(text) && !isProduct(text)) return true;
  if (!/^[A-Za-z_$][\w$]*$/.test(text)) return false;
  return /[a-z0-9][A-Z]|[\w$]_[\w$]/.test(text) || (!shouting && /^[A-Z][A-Z0-9]{2,}$/.test(text));
}
