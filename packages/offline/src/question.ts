import { inCode, oneLine, stem } from './text.ts';
import type { Look, Want } from './want.ts';
import { readWords } from './words.ts';
import { readWrite } from './write-request.ts';

const MAX_QUESTION = 2000;
const MAX_WANTS = 6;

const CHANGES =
  'write|save|put|create|make|add|append|edit|change|replace|fix|delete|remove|rename|move|copy|' +
  'run|execute|install|build|commit|push|refactor|implement|translate|update|generate';
const STARTS =
  'what|which|where|who|how|why|when|is|are|does|do|can|list|ls|show|read|open|cat|print|find|' +
  `search|grep|look|count|tell|explain|describe|summari[sz]e|give|please|${CHANGES}`;
/** Where one part of a question ends and the next begins. */
const BETWEEN = new RegExp(`(?:[.?!;,] (?:and |then )*| (?:and|then) )(?=(?:${STARTS})\\b)`, 'i');
const POLITE = '(?:(?:please|now|can you|could you|would you|i want you to),? )*';
const CHANGE = new RegExp(`^${POLITE}(?:${CHANGES})\\b`, 'i');
const GREETING = /^(?:hi|hello|hey|thanks|thank you|help|good (?:morning|day|evening))\b\W*$/i;
const SELF =
  /\b(?:who|what|where) are you\b|\bwhere am i\b|\bwhat can you\b|\byour tools\b|\btools .*you\b/i;
const COUNT = /\bcount\b|\bhow (?:many lines|long)\b|\bnumber of lines\b/i;
const MENTION = /\b(?:mention|contain|refer|import|occur)\w*\b(?!\W*$)/i;
const SEARCH = /\b(?:search|grep|find|where|look for)\b/i;
const LIST = /\b(?:list|ls|files|folders?|director(?:y|ies))\b|\bwhat(?:'s| is) (?:in )?here\b/i;
const PROJECT = /\b(?:project|repo|repository|codebase|package|library)\b|\bwhat is this\b/i;
const ENGLISH = /\b(?:what|how|why|who|when|which|is|are|does|can|the|tell|explain|show|about)\b/i;

const EXAMPLES =
  'My rules know simple English questions about the files here: “list the files”, “what does ' +
  'README.md say about a topic?”, “which files mention AbortSignal?”, “count the lines of ' +
  'README.md”, and `write "hello" to notes.txt`.';
const ONLY_WRITES =
  'I edit, delete, move and run nothing. I write a file only when that is the whole question and ' +
  'the text is given word for word, as in `write "hello" to notes.txt`.';

const say = (text: string): Want => ({ kind: 'say', text });
const within = (path: string | null): Look['args'] => (path === null ? {} : { path });
const look = (name: Look['name'], args: Look['args'], topics: Look['topics'] = []): Look => ({
  kind: 'look',
  name,
  args,
  topics,
});

/** What a question asks for, in its order; never empty. */
export function readQuestion(question: string, tools: readonly string[]): Want[] {
  const text = question.slice(0, MAX_QUESTION).replace(/^\[from [^\]]*\] /, '').trim();
  const write = question.length > MAX_QUESTION ? null : readWrite(text);
  if (write !== null) return [write];
  const parts = text.replace(/\s+/g, ' ').split(BETWEEN);
  const asking = parts.filter((part) => !GREETING.test(part));
  if (asking.length === 0) return introduce(tools);
  let file = 'it';
  const wants = asking.flatMap((part) => {
    const full = part.replace(/\bit\b/i, () => file); // said before
    file = [...readWords(full).files.keys()].at(-1) ?? file;
    return SELF.test(part) ? introduce(tools) : readPart(full);
  });
  const isCut = wants.length > MAX_WANTS || question.length > MAX_QUESTION;
  const rest = isCut ? [say('The question is long, and I left the rest of it aside.')] : [];
  return [...wants.slice(0, MAX_WANTS), ...rest];
}

function introduce(tools: readonly string[]): Want[] {
  const named = tools.slice(0, 30).map(inCode).join(', ');
  const offered = `I am offered ${named === '' ? 'no tools' : `these tools: ${named}`}.`;
  const hello = say(`Hello! I am an offline model. ${offered} ${EXAMPLES}`);
  return tools.includes('list_dir') ? [hello, look('list_dir', {})] : [hello];
}

function readPart(part: string): Want[] {
  const quote = oneLine(part, 80);
  if (CHANGE.test(part)) return [say(`I cannot do “${quote}”. ${ONLY_WRITES}`)];
  const { files, folder, names, topics } = readWords(part);
  const paths = [...files.keys()];
  if (COUNT.test(part) && paths.length > 0) {
    return paths.map((path) => look('read_file', { path }, null));
  }
  const isMention = MENTION.test(part);
  if (isMention || SEARCH.test(part) || (names.length > 0 && paths.length === 0)) {
    const phrase = [...topics.slice(0, -1), ...topics.slice(-1).map(stem)].join(' ');
    const said = names.length > 0 || phrase === '' ? names : [phrase];
    const place = said.length > 0 ? (paths[0] ?? folder) : folder;
    // `which files mention README.md?`
    const queries = said.length > 0 || !isMention ? said : paths;
    if (queries.length > 0) {
      const scope = { ignore_case: true, ...within(place) };
      return queries.map((query) => look('search_text', { query, ...scope }));
    }
  }
  const about = [...names, ...topics];
  if (paths.length > 0) {
    return [...files].map(([path, line]) =>
      look('read_file', line === null ? { path } : { path, offset: line }, about),
    );
  }
  if (folder !== null || LIST.test(part)) return [look('list_dir', within(folder))];
  if (PROJECT.test(part) || (isEnglish(part) && about.some((topic) => topic.length > 3))) {
    const sought = about.map(inCode).join(', ');
    const lead = `No rule of mine fits “${quote}”, so I look for ${sought} in README.md.`;
    const readme = look('read_file', { path: 'README.md' }, about);
    return about.length === 0 ? [readme] : [say(lead), readme];
  }
  return [say(`I cannot answer “${quote}”: I know nothing by myself. ${EXAMPLES}`)];
}

/** Whether it could be: two words are too few to tell. */
const isEnglish = (part: string): boolean =>
  /^\p{ASCII}*$/u.test(part) && (ENGLISH.test(part) || part.split(' ').length < 3);
