/** What stands in a part of a question. */
export interface Words {
  /** The paths of files, with the line that is named. */
  readonly files: ReadonlyMap<string, number | null>;
  readonly folder: string | null;
  /** What is quoted, or looks like a name in a program. */
  readonly names: readonly string[];
  /** Other words that the part may be about. */
  readonly topics: readonly string[];
}

/** Words of three letters and more that are no topic. */
const COMMON = new Set(
  (
    'about all also and any are can contain contained contains count describe described did ' +
    'directories directory does each every everything explain file files find folder folders for ' +
    'from give grep handled happen happening happens has have here how inside into its like line ' +
    'lines list long look many mention mentioned mentions much name names number occur occurs ' +
    'open our out please print project read refer refers repo repository root say says search see ' +
    'show some summarise summarize summary tell text than that the their them then there these ' +
    'they this those under use used uses using was were what when where which who why will with ' +
    'without word words work works would you your'
  ).split(' '),
);

const TOKEN = /`([^`]+)`|"([^"]+)"|“([^”]+)”|(?<!\w)'([^']+)'(?!\w)|\S+/gu;
const AROUND = /^[([{<"'“‘*]+|(?:[()\]}>"'”’*?!,;:.…]|'s)+$/gu;
const ENDINGS =
  'md|txt|jsonl?|ya?ml|toml|ini|[cm]?[jt]sx?|html?|s?css|py|rs|go|java|rb|php|sh|c|h|cpp|cs|sql|' +
  'csv|xml|svg|log|lock|env|conf';
const NO_FILE = /^\w+:\/\/|^(?:node|next|vue)\.js$/i;
const FILE = new RegExp(`^(?:.*[\\w)-]\\.(?:${ENDINGS})|\\.\\w[\\w.-]+)$`, 'i');
const PAGE = /^(?:readme|changelog|contributing)$/i;
const FOLDER = /^(?!@)[\w.@-]+(?:\/[\w.@-]+)*\/$|^(?!@)[\w.@-]+(?:\/[\w.@-]+)+$/;
const USUAL_FOLDER = /^(?:src|lib|app|packages|docs?|tests?|examples|scripts|config|bin)$/;
const BEFORE_FOLDER = /^(?:in|inside|under|folder|directory|list|ls)$/;
const ASKS_FOR_FOLDER = /\b(?:list|ls|folders?|directory|(?:what(?:'s| is| are)|files|are) in)\b/i;
const NAME = /[a-z0-9][A-Z]|\w_\w|\w[.#]\w|^[A-Z][A-Z0-9]{2,}$|^@\w+\//;

/** Takes a part of a question apart. */
export function readWords(text: string): Words {
  const files = new Map<string, number | null>();
  const folders: string[] = [];
  const names: string[] = [];
  const topics: string[] = [];
  const bare = text.replace(/\b(?:a|the) /gi, '');
  const tokens = [...bare.matchAll(TOKEN)].map(([token, ...groups]) => {
    const inner = groups.find((group: string | undefined) => group !== undefined);
    return { word: inner ?? token.replace(AROUND, ''), isQuoted: inner !== undefined };
  });
  for (const [index, { word, isQuoted }] of tokens.entries()) {
    const [before = '', after = ''] = [tokens[index - 1]?.word, tokens[index + 1]?.word];
    const file = readFile(word);
    if (file !== null) files.set(...file);
    else if (FOLDER.test(word)) folders.push(word.replace(/\/$/, ''));
    else if (isQuoted) names.push(word.replace(/\(\)$/, ''));
    else if (word.length < 3 || COMMON.has(word.toLowerCase())) continue;
    else if (isFolder(word, before, after, text)) folders.push(word);
    else if (NAME.test(word)) names.push(word);
    else if (/^\p{L}[\p{L}\p{N}’'-]*$/u.test(word)) topics.push(word);
  }
  return { files, folder: folders[0] ?? null, names, topics };
}

/** A word that is no path is one by its place, and by its name or what the text asks for. */
function isFolder(word: string, before: string, after: string, text: string): boolean {
  if (!/^[\w.@-]+$/.test(word)) return false;
  if (/^(?:folder|directory)$/.test(after)) return true;
  return BEFORE_FOLDER.test(before) && (USUAL_FOLDER.test(word) || ASKS_FOR_FOLDER.test(text));
}

function readFile(word: string): [path: string, line: number | null] | null {
  if (PAGE.test(word)) return [`${word.toUpperCase()}.md`, null];
  if (/^(?:LICENSE|Makefile|Dockerfile)$/.test(word)) return [word, null];
  const [, path = '', line] = /^(.+?)(?::(\d{1,7})(?::\d+)?)?$/.exec(word) ?? [];
  if (NO_FILE.test(path) || !FILE.test(path)) return null;
  return [path, line === undefined ? null : Number(line)];
}
