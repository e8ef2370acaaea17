/**
 * A regular expression as a tree. What is not regular (a backreference) has no place in it; nor
 * has a look behind, which would have to be read in the other direction.
 */
export type PatternNode =
  | { readonly kind: 'point'; readonly accepts: (point: number) => boolean }
  | { readonly kind: 'edge'; readonly holds: EdgeTest }
  | { readonly kind: 'look'; readonly body: PatternNode; readonly negated: boolean }
  | { readonly kind: 'sequence'; readonly items: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly options: readonly PatternNode[] }
  | Repeat;

/** A part from `min` to `max` times, which may be `Infinity`. */
export interface Repeat {
  readonly kind: 'repeat';
  readonly item: PatternNode;
  readonly min: number;
  readonly max: number;
}

/** Whether an assertion without width holds in front of the code point at `index`. */
export type EdgeTest = (points: readonly number[], index: number) => boolean;

/**
 * Reads a pattern as JavaScript does with the flag `u`. Throws a `SyntaxError` for what is no
 * pattern, an `Error` for a backreference, a look behind and inline flags.
 */
export function parsePattern(source: string): PatternNode {
  new RegExp(source, 'u'); // so that the parser only ever meets what is well-formed
  return new PatternParser(source).choice();
}

/** The names say what stands at the cursor; every one is sticky and moves over what it finds. */
const TOKENS = {
  open: /\((?:\?(?:[:=!]|<[^=!>][^>]*>))?/uy,
  quantifier: /(?:[*+?]|\{(?<min>\d+)(?<range>,(?<max>\d*))?\})\??/uy,
  edge: /[$^]|\\[Bb]/uy,
  backreference: /\\(?:[1-9]|k)/uy,
  klass: /\[(?:\\[^]|[^\\\]])*\]/uy,
  escape:
    /\\(?:u\{[\dA-Fa-f]+\}|u[Dd][89ABab][\dA-Fa-f]{2}\\u[Dd][C-Fc-f][\dA-Fa-f]{2}|u[\dA-Fa-f]{4}|x[\dA-Fa-f]{2}|c[A-Za-z]|[Pp]\{[^}]*\}|[^])/uy,
  literal: /[^]/uy,
} as const;

class PatternParser {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** Alternatives, up to the end of the group. */
  choice(): PatternNode {
    const options = [this.#sequence()];
    while (this.#skip('|')) options.push(this.#sequence());
    const [only] = options;
    return only !== undefined && options.length === 1 ? only : { kind: 'choice', options };
  }

  #sequence(): PatternNode {
    const items: PatternNode[] = [];
    while (this.#at < this.#source.length && !'|)'.includes(this.#source.charAt(this.#at))) {
      items.push(this.#repeated(this.#term()));
    }
    return { kind: 'sequence', items };
  }

  #repeated(item: PatternNode): PatternNode {
    const found = this.#take(TOKENS.quantifier);
    if (found === null) return item;
    const { min, range, max } = found.groups ?? {};
    switch (found[0].charAt(0)) {
      case '*':
        return { kind: 'repeat', item, min: 0, max: Infinity };
      case '+':
        return { kind: 'repeat', item, min: 1, max: Infinity };
      case '?':
        return { kind: 'repeat', item, min: 0, max: 1 };
      default: {
        const least = Number(min);
        const most = max === undefined || max === '' ? Infinity : Number(max);
        return { kind: 'repeat', item, min: least, max: range === undefined ? least : most };
      }
    }
  }

  #term(): PatternNode {
    if (this.#source.charAt(this.#at) === '(') return this.#group();
    const edge = this.#take(TOKENS.edge);
    if (edge !== null) return { kind: 'edge', holds: edgeTest(edge[0]) };
    if (this.#take(TOKENS.backreference) !== null) throw new Error(refusal('a backreference'));
    const special = this.#take(TOKENS.klass) ?? this.#take(TOKENS.escape);
    const text = (special ?? this.#take(TOKENS.literal))?.[0] ?? '';
    const isLiteral = special === null && text !== '.';
    return { kind: 'point', accepts: isLiteral ? isPoint(text) : pointTest(text) };
  }

  #group(): PatternNode {
    const open = this.#take(TOKENS.open)?.[0] ?? '';
    if (open === '(' && this.#source.charAt(this.#at) === '?') {
      throw new Error(refusal('a look behind or inline flags'));
    }
    const body = this.choice();
    this.#skip(')');
    if (open !== '(?=' && open !== '(?!') return body;
    return { kind: 'look', body, negated: open === '(?!' };
  }

  #skip(character: string): boolean {
    const isThere = this.#source.charAt(this.#at) === character;
    if (isThere) this.#at += 1;
    return isThere;
  }

  #take(token: RegExp): RegExpExecArray | null {
    token.lastIndex = this.#at;
    const found = token.exec(this.#source);
    if (found !== null) this.#at += found[0].length;
    return found;
  }
}

const refusal = (what: string): string =>
  `${what} cannot be matched in an amount of time that is known beforehand`;

function edgeTest(source: string): EdgeTest {
  switch (source) {
    case '^':
      return (_points, index) => index === 0;
    case '$':
      return (points, index) => index === points.length;
    case String.raw`\b`:
      return isWordEdge;
    default:
      return (points, index) => !isWordEdge(points, index);
  }
}

const isWordEdge: EdgeTest = (points, index) => isWord(points[index - 1]) !== isWord(points[index]);

const isWord = (point: number | undefined): boolean =>
  point !== undefined && /\w/.test(String.fromCodePoint(point));

function isPoint(text: string): (point: number) => boolean {
  const wanted = text.codePointAt(0);
  return (point) => point === wanted;
}

/** A class or an escape, asked of one character at a time, where no engine can be slow. */
function pointTest(source: string): (point: number) => boolean {
  const one = new RegExp(`^${source}$`, 'u');
  const test = (point: number): boolean => one.test(String.fromCodePoint(point));
  const known: boolean[] = []; // of the few characters that most texts are made of
  return (point) => (point < 128 ? (known[point] ??= test(point)) : test(point));
}
