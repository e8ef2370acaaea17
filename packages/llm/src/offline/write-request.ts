import type { DescribedIntent, WriteIntent } from './intent.ts';
import { isProduct, tokenize } from './tokens.ts';

const MAX_PATH = 300;
const MAX_BARE_WORDS = 12;

const QUOTED = '"[^"]*"|“[^”]*”|`[^`]*`|\'(?:[^\'\\n]|(?<=\\p{L})\'(?=\\p{L}))*\'';
const PATH = `${QUOTED}|[^\\s"“”\`'?*<>|]+`;
const PLEASE = '(?:please,?\\s+)?';
const END = '(?:,?\\s+please)?[.!]*';
const NEW_FILE =
  '(?:(?:a|the)\\s+)?(?:new\\s+)?(?:(?:text\\s+)?file\\s+)?(?:(?:called|named)\\s+)?';
const TEXT_WORD = '(?:the\\s+)?(?:text|contents?|words?|line)\\s+';

/** `write "hello" to notes.md` */
const TEXT_FIRST = new RegExp(
  `^${PLEASE}(?<verb>write|save|put)\\s+` +
    `(?:(?:${TEXT_WORD})?(?<quoted>${QUOTED})|(?<bare>\\S[^\\n]*))(?<!\\s)\\s+` +
    `(?<preposition>to|into|in|as)\\s+${NEW_FILE}(?<path>${PATH})${END}$`,
  'iu',
);

/** `create a file notes.md containing hello` */
const PATH_FIRST = new RegExp(
  `^${PLEASE}(?:create|make|write|save)\\s+${NEW_FILE}(?<path>${PATH})\\s+` +
    `(?<joint>(?:with|containing|saying|that\\s+(?:contains|says))\\s+(?:${TEXT_WORD})?)` +
    `(?:(?<quoted>${QUOTED})${END}|(?<bare>\\S[^\\n]*))$`,
  'iu',
);

/** `write a loop in app.ts` asks for a program: what follows `in` may be the language. */
const PREPOSITIONS: ReadonlyMap<string, readonly string[]> = new Map([
  ['write', ['to', 'into']],
  ['save', ['as', 'to', 'into', 'in']],
  ['put', ['into', 'in', 'to']],
]);

const wordSet = (words: string): ReadonlySet<string> => new Set(words.split(' '));

/** A text that begins so tells what to write, or refers to it. */
const POINTS = wordSet(
  'a an the this that these those it its them they my your our his her their some any all every ' +
    'each both one two three more everything anything nothing something whatever down up out ' +
    'back over me us you him in on to into as from with',
);

/** A text that has one of these tells what to write. */
const DESCRIBES = wordSet(
  'of about for which who what how why where when whether then it them this that access ' +
    'permission permissions lock test tests code function functions class classes type types ' +
    'method methods module script program component page summary overview documentation docs ' +
    'doc comment comments list table report changelog readme story poem essay article letter ' +
    'email result results output answer answers content contents text file files data change ' +
    'changes work progress log logs logging error errors message messages notes write save put ' +
    'create read',
);

/** Where a text without an end may be over and something else begin. */
const GOES_ON = /[?,;:]|[.!]\s|\b(and|or|but|because)\b/i;

/** `put breakpoints in a.ts` is about a program: only prose is taken without quotes. */
const TAKES_BARE = /\.(md|mdx|txt|rst|adoc)$|(^|[/\\])[^./\\]+$/i;

/** What has a slash or a dot and is no file. */
const NO_FILE: readonly RegExp[] = [
  /:\/\//,
  /^[\d.,]+$/,
  /^[^/\\]+@[^/\\]+$/,
  /^[^/\\]+\.(com|org|net)$/i,
  /^(\p{Lu}\.)+\p{Lu}?$/u,
  /^(and\/or|(he|him|his)\/(she|hers?)|yes\/no|i\/o|n\/a|tcp\/ip|\d+\/\d+)$/i,
];

/**
 * Reads a request to write one text to one file. The whole question has to have the shape of
 * one, as a write cannot be taken back; `null` for every other.
 */
export function readWriteRequest(question: string): WriteIntent | DescribedIntent | null {
  return readTextFirst(question) ?? readPathFirst(question);
}

function readTextFirst(question: string): WriteIntent | DescribedIntent | null {
  const groups = TEXT_FIRST.exec(question)?.groups ?? {};
  const { verb = '', preposition = '', quoted, bare = '' } = groups;
  const fits = PREPOSITIONS.get(verb.toLowerCase())?.includes(preposition.toLowerCase());
  const path = readPath(groups['path']);
  if (fits !== true || path === null) return null;
  if (quoted !== undefined) return { kind: 'write', path, content: unquoted(quoted) };
  return isVerbatim(bare, path) ? { kind: 'write', path, content: bare } : { kind: 'described' };
}

function readPathFirst(question: string): WriteIntent | DescribedIntent | null {
  const groups = PATH_FIRST.exec(question)?.groups ?? {};
  const { joint = '', quoted, bare = '' } = groups;
  const path = readPath(groups['path']);
  if (path === null) return null;
  if (quoted !== undefined) return { kind: 'write', path, content: unquoted(quoted) };
  // `create app.tsx with routing` wants more than that word in it.
  const isGiven = !/^with\s+$/i.test(joint) && !GOES_ON.test(bare) && isVerbatim(bare, path);
  return isGiven ? { kind: 'write', path, content: bare } : { kind: 'described' };
}

const QUOTES = /^["“`']/;

const unquoted = (text: string): string => text.slice(1, -1);

/** The path as it stands, or `null` when it does not look like one of a file. */
function readPath(given: string | undefined): string | null {
  if (given === undefined) return null;
  const inQuotes = QUOTES.test(given);
  const path = inQuotes ? unquoted(given).trim() : given.replace(/[.,;!]+$/, '');
  const name = path.slice(1 + Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')));
  if (path.length > MAX_PATH || name === '' || /^\.+$/.test(name)) return null;
  if (name === path && !/\.[\p{L}\p{N}_-]+$/u.test(name)) return null;
  if (inQuotes) return path;
  return isProduct(path) || NO_FILE.some((rule) => rule.test(path)) ? null : path;
}

/** Whether a text without quotes is what to write, and not words about it. */
function isVerbatim(text: string, path: string): boolean {
  if (!TAKES_BARE.test(path)) return false;
  const words = text.toLowerCase().match(/[\p{L}\p{N}'’_]+/gu) ?? [];
  if (words.length > MAX_BARE_WORDS || POINTS.has(words[0] ?? '')) return false;
  if (/["“”`‘/\\]|(^|\s)'|'(\s|$)/.test(text) || words.some((word) => DESCRIBES.has(word))) {
    return false;
  }
  return tokenize(text).every(({ kind }) => kind === 'word' || kind === 'code');
}
