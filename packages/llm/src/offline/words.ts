/** Words that carry no topic of their own. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a about according all also am an and any anything are as at be been being between but ' +
    'by can check code codebase compare contain contains could current describe described ' +
    'describes detail details did difference directories directory do document documents ' +
    'does doing done each else every exactly explain explains file files folder folders for ' +
    'from gave get gets give given go had happen happening happens has have having he here ' +
    'hey hi how i if in inside into is it its just know let like look looking made make ' +
    'makes many may me mean means mention mentioned mentions more most much must my no not ' +
    'now of off ok on one only open or our out over own per place places please project put ' +
    'question read reading repo repository root say saying says see shall she should show ' +
    'shows so some something still story such summarise summarize summary tell tells text ' +
    'than that the their them then there these they thing things this those through to too ' +
    'under up us very want was way we were what whats when where whether which who whose why ' +
    'will with within without word words work works would yes yet you your'
  ).split(' '),
);

const SUFFIXES: readonly string[] = ['ations', 'ation', 'ings', 'ing', 'ies', 'ed', 'es', 's'];

/** Whether a word says nothing about what a question is about. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word.toLowerCase().replace(/['’]s?$/, ''));
}

/**
 * The part that the forms of one English word share, always a beginning of the word itself,
 * so that it can be looked for literally: `cancelling`, `cancelled`, `cancellation` → `cancel`.
 */
export function stem(word: string): string {
  let base = word.toLowerCase().replace(/['’]s$/, '');
  if (!/^[a-z]+$/.test(base)) return base;
  const suffix = /(ss|us|is)$/.test(base) ? undefined : SUFFIXES.find((end) => fits(base, end));
  if (suffix !== undefined) base = base.slice(0, -suffix.length);
  if (suffix !== undefined && base.length > 3 && /([bdglmnprt])\1$/.test(base)) {
    if (!base.endsWith("ll") || base.length > 4) base = base.slice(0, -1);
  }
  return base.length > 4 || suffix !== undefined ? base.replace(/(?<=.{3})[ey]$/, '') : base;
}

/** The text to search for all forms of a word with: its stem, or the whole of a short form. */
export function searchStem(word: string): string {
  const whole = word.toLowerCase();
  const root = stem(word);
  return whole.length - root.length === 1 && /[ey]$/.test(whole) ? whole : root;
}

function fits(word: string, suffix: string): boolean {
  const least = suffix === 's' ? 3 : 4;
  return word.endsWith(suffix) && word.length - suffix.length >= least;
}

/** The words of a text in lower case, with `camelCase` taken apart. */
function wordsOf(text: string): string[] {
  const apart = text.replace(/(?<=[a-z0-9])(?=[A-Z])/g, ' ');
  return apart.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Whether a topic is spelled like code or a phrase, so that it is looked for as it stands. */
function isLiteral(topic: string): boolean {
  return !/^\p{L}?[\p{Ll}\p{Lo}\p{N}]*$/u.test(topic);
}

/** How often a text mentions a topic, whatever form of the word it uses. */
export function countMentions(text: string, topic: string): number {
  if (topic === '') return 0;
  if (isLiteral(topic)) return text.toLowerCase().split(topic.toLowerCase()).length - 1;
  const root = stem(topic);
  const matches =
    root.length < 4
      ? (word: string): boolean => word === topic.toLowerCase() || stem(word) === root
      : (word: string): boolean => word.startsWith(root);
  return wordsOf(text).filter(matches).length;
}

/** Whether a text mentions at least one of the topics. */
export function mentionsAny(text: string, topics: readonly string[]): boolean {
  return topics.some((topic) => countMentions(text, topic) > 0);
}

/** Words in the order of how much they can tell apart: the longest first, ties as they stand. */
export function rarestFirst(words: readonly string[]): string[] {
  return [...new Set(words)].sort((a, b) => b.length - a.length);
}
