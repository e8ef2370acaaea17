import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import ts from 'typescript';
import { describe, expect, test } from 'vitest';

import contract from '../contracts/rules.json' with { type: 'json' };

/** Stands where a title has a part that is only known at run time. */
const UNKNOWN = '\ufffc';

/** The ids in a title, as whole tokens: `L4.45`, `L4.4a` and `L4.4${n}` are not `L4.4`. */
function idsIn(title: string): string[] {
  return title.match(/(?<![\w.\ufffc])[CLX]\d+(?:\.\d+)*(?![\w\ufffc]|\.[\d\ufffc])/g) ?? [];
}

interface Title {
  readonly text: string;
  /** Whether it is a test's own title or a group's, and is not left out of the run. */
  readonly runs: boolean;
}

/** Titles of `test`, `it` and `describe`, also `test.each(…)(…)` and what stands in a loop. */
function titlesOf(source: string, fileName = 'a.test.ts'): Title[] {
  const titles: Title[] = [];
  const visit = (node: ts.Node, skipped: boolean): void => {
    const call = ts.isCallExpression(node) ? calledAs(node.expression) : null;
    let leftOut = skipped;
    if (call !== null && ts.isCallExpression(node)) {
      leftOut ||= call.some((name) => ['skip', 'todo', 'fails'].includes(name));
      const [title] = node.arguments;
      const text = title === undefined ? null : staticText(title);
      if (text !== null) titles.push({ text, runs: !leftOut });
    }
    ts.forEachChild(node, (child) => {
      visit(child, leftOut);
    });
  };
  visit(ts.createSourceFile(fileName, source, ts.ScriptTarget.Latest), false);
  return titles;
}

/** `['test', 'each']` of `test.each(…)`; `null` for what defines no test. */
function calledAs(expression: ts.Expression): string[] | null {
  if (ts.isIdentifier(expression)) {
    return ['test', 'it', 'describe'].includes(expression.text) ? [expression.text] : null;
  }
  if (ts.isPropertyAccessExpression(expression)) {
    const of = calledAs(expression.expression);
    return of === null ? null : [...of, expression.name.text];
  }
  if (ts.isCallExpression(expression)) return calledAs(expression.expression);
  return ts.isTaggedTemplateExpression(expression) ? calledAs(expression.tag) : null;
}

/** The text of a string as far as the source says it; `null` for what is none. */
function staticText(node: ts.Expression): string | null {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isParenthesizedExpression(node)) return staticText(node.expression);
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map((span) => UNKNOWN + span.literal.text).join('');
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    return (staticText(node.left) ?? UNKNOWN) + (staticText(node.right) ?? UNKNOWN);
  }
  return null;
}

const root = join(import.meta.dirname, '..');

/** Every `*.test.ts` below `test/` and `packages/<name>/test/`. */
function testFiles(): string[] {
  const packages = readdirSync(join(root, 'packages'), { withFileTypes: true });
  const places = ['test', ...packages.map(({ name }) => join('packages', name, 'test'))];
  return places.flatMap((place) =>
    filesIn(place)
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => join(place, file)),
  );
}

function filesIn(place: string): string[] {
  try {
    return readdirSync(join(root, place), { recursive: true, encoding: 'utf8' });
  } catch {
    return []; // a package without tests
  }
}

/** Where each id is named, and whether by a test that runs. */
function namedIds(): { proven: Set<string>; named: Map<string, string[]> } {
  const proven = new Set<string>();
  const named = new Map<string, string[]>();
  for (const file of testFiles()) {
    for (const { text, runs } of titlesOf(readFileSync(join(root, file), 'utf8'), file)) {
      for (const id of idsIn(text)) {
        if (runs) proven.add(id);
        named.set(id, [...(named.get(id) ?? []), `${file}: ${text}`]);
      }
    }
  }
  return { proven, named };
}

const { proven, named } = namedIds();

const ids = contract.rules.map(({ id }) => id);

describe('rules.json', () => {
  test('lists every rule once, in order, with one line of its own', () => {
    expect(contract.version).toBe(1);
    const expected = [
      ['C1', 5],
      ['C2', 5],
      ['C3', 7],
      ['C4', 7],
      ['C5', 8],
      ['C6', 1],
      ['L1', 0],
      ['L2', 8],
      ['L3', 7],
      ['L4', 6],
      ['L5', 9],
      ['L6', 4],
      ['L7', 5],
      ['L8', 0],
    ].flatMap(([section, count]) => {
      const name = String(section);
      const numbered = Array.from({ length: Number(count) }, (_, i) => `${name}.${String(i + 1)}`);
      return ['C1', 'C4', 'L1', 'L8'].includes(name) ? [name, ...numbered] : numbered;
    });
    const beyond = [...Array.from({ length: 18 }, (_, i) => i + 1), 32].map((n) => `X${String(n)}`);
    expect(ids).toEqual([...expected, ...beyond]);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { rule } of contract.rules) expect(rule).toMatch(/^\S.{20,200}\.$/);
    expect(new Set(contract.rules.map(({ rule }) => rule)).size).toBe(ids.length);
  });

  test('every rule has a test that names it', () => {
    const missing = ids.filter((id) => !proven.has(id));
    expect(missing, `rules without a test: ${missing.join(', ')}`).toEqual([]);
  });

  test('every id that a title names is a rule', () => {
    const unknown = [...named].filter(([id]) => !ids.includes(id));
    const where = unknown.map(([id, titles]) => `${id} in ${titles.join(' and ')}`);
    expect(where, `ids that rules.json lacks: ${where.join('; ')}`).toEqual([]);
  });
});

describe('how titles are read', () => {
  test.each<[title: string, ids: string[]]>([
    ['L4.4 results come in order', ['L4.4']],
    ['results come in order (L4.4)', ['L4.4']],
    ['L4.4: in order', ['L4.4']],
    ['L4.4, L4.5 and L4.6.', ['L4.4', 'L4.5', 'L4.6']],
    ['C4.5 + C4.6 → L1/L8', ['C4.5', 'C4.6', 'L1', 'L8']],
    ['L4.45', ['L4.45']],
    ['L4.4.5', ['L4.4.5']],
    ['L4.4a, aL4.4, 3.L4.4, L4.x', ['L4']],
    ['L14.4', ['L14.4']],
    ['X16 the kit', ['X16']],
    ['HTML5, CL4.4, l4.4, Y2.1 and L', []],
    [`L4.${UNKNOWN} and L4${UNKNOWN} and L4.4${UNKNOWN} and ${UNKNOWN}L4.4`, []],
    [`L4.4 ${UNKNOWN}`, ['L4.4']],
  ])('%j', (title, expected) => {
    expect(idsIn(title)).toEqual(expected);
  });

  test.each<[source: string, texts: string[]]>([
    ["test('L4.4 a', () => {});", ['L4.4 a']],
    ["it('L4.4 a', async () => {});", ['L4.4 a']],
    ["describe('L4.4 a', () => { test('b', () => {}); });", ['L4.4 a', 'b']],
    ['test.each([1])("L4.4 %s", (n) => { expect(n); });', ['L4.4 %s']],
    ['test.for([1])(`L4.4 %s`, () => {});', ['L4.4 %s']],
    ['test.each`a\n${1}`("L4.4 $a", () => {});', ['L4.4 $a']],
    ['test.concurrent.only("L4.4", () => {});', ['L4.4']],
    ['for (const n of [1]) test(`L4.4 ${n} b`, () => {});', [`L4.4 ${UNKNOWN} b`]],
    ["test('L4.4 ' + name + (' b'), () => {});", [`L4.4 ${UNKNOWN} b`]],
    ["// test('L4.4', () => {});\nconst s = \"test('L4.4')\";", []],
    ["expect('L4.4'); tests('L4.4'); my.test('L4.4'); test(name, () => {});", []],
  ])('%j', (source, texts) => {
    expect(titlesOf(source)).toEqual(texts.map((text) => ({ text, runs: true })));
  });

  test.each([
    "test.skip('L4.4', () => {});",
    "test.todo('L4.4');",
    "test.fails('L4.4', () => {});",
    "it.skip.each([1])('L4.4', () => {});",
    "describe.skip('a', () => { test('L4.4', () => {}); });",
  ])('a test that does not run proves nothing: %s', (source) => {
    expect(titlesOf(source).at(-1)).toEqual({ text: 'L4.4', runs: false });
  });
});
