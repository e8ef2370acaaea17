/**
 * The public surface of every package: the names that its entry points export, each with its
 * declaration. `pnpm api` writes it to `contracts/api.json`; a test and the package checks compare
 * the sources and the built declarations with it, so that no change of it goes unseen.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';

import ts from 'typescript';

export const ROOT = join(import.meta.dirname, '..');
const CONTRACT = join(ROOT, 'contracts/api.json');

/** Declarations by name, the overloads of a function together. */
export type Surface = Readonly<Record<string, string>>;
/** Surfaces by the name that is imported, such as `@celestea/agent-loop/testing`. */
export type Api = Readonly<Record<string, Surface>>;

/** Gives the declarations of a file, by the path that an import in another one leads to. */
type ReadDeclarations = (path: string) => string;

/** Where the types of an entry point are: a source file, or the condition `types`. */
type Entry = string | { readonly types: string };

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, Entry>>;
}

/** The folders of all packages. */
export const packageFolders: readonly string[] = [
  ROOT,
  ...readdirSync(join(ROOT, 'packages')).map((name) => join(ROOT, 'packages', name)),
];

/** What the sources of a package declare. */
export const sourceApi = (folder: string): Api => apiOf(folder, declarationsOf);

/** What an unpacked tarball declares. */
export const packedApi = (folder: string): Api =>
  apiOf(folder, (path) => readFileSync(path.replace(/(\.d)?\.ts$/, '.d.ts'), 'utf8'));

/** What was agreed on, of all packages or of one. */
export function agreedApi(name?: string): Api {
  const all = JSON.parse(readFileSync(CONTRACT, 'utf8')) as Api;
  if (name === undefined) return all;
  const isOf = (entry: string): boolean => entry === name || entry.startsWith(`${name}/`);
  return Object.fromEntries(Object.entries(all).filter(([entry]) => isOf(entry)));
}

/** What differs, one line a name; empty when nothing does. */
export function apiDifferences(agreed: Api, found: Api): string[] {
  return namesIn(agreed, found).flatMap((entry) => {
    const [before = {}, after = {}] = [agreed[entry], found[entry]];
    return namesIn(before, after).flatMap((name) => {
      if (before[name] === after[name]) return [];
      const isNew = before[name] === undefined;
      return `${entry}: ${name} ${isNew ? 'added' : after[name] === undefined ? 'gone' : 'changed'}`;
    });
  });
}

const namesIn = (one: object, other: object): string[] =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].sort();

function apiOf(folder: string, read: ReadDeclarations): Api {
  const { name, exports } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as Manifest;
  const surfaces = new Surfaces(read);
  const api: Record<string, Surface> = {};
  for (const [entry, target] of Object.entries(exports)) {
    const file = typeof target === 'string' ? target : target.types;
    if (!file.endsWith('.ts')) continue; // data, and the manifest itself
    api[join(name, entry)] = surfaces.of(join(folder, file));
  }
  return api;
}

/** The declarations that a source file comes to, made of its text alone. */
function declarationsOf(path: string): string {
  const { outputText } = ts.transpileDeclaration(readFileSync(path, 'utf8'), {
    fileName: path,
    compilerOptions: {
      isolatedDeclarations: true,
      stripInternal: true,
      target: ts.ScriptTarget.ES2023,
    },
  });
  return outputText;
}

/** The surfaces of files, each read once. */
class Surfaces {
  readonly #read: ReadDeclarations;
  readonly #known = new Map<string, Surface>();

  constructor(read: ReadDeclarations) {
    this.#read = read;
  }

  of(path: string): Surface {
    const surface = this.#known.get(path) ?? this.#look(path);
    this.#known.set(path, surface);
    return surface;
  }

  #look(path: string): Surface {
    const found = new Map<string, string>();
    const file = ts.createSourceFile(path, this.#read(path), ts.ScriptTarget.ES2023, true);
    for (const statement of file.statements) {
      const names = ts.isExportDeclaration(statement)
        ? this.#passedOn(statement, path)
        : declared(statement);
      for (const [name, text] of names) {
        const former = found.get(name);
        found.set(name, former === undefined || former === text ? text : `${former} ${text}`);
      }
    }
    return Object.fromEntries([...found].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  /** The names that `export { … } from '…'` lists. */
  #passedOn(
    { exportClause, moduleSpecifier: from }: ts.ExportDeclaration,
    path: string,
  ): [name: string, text: string][] {
    if (from === undefined) return []; // `export {}` marks a module
    if (exportClause === undefined || !ts.isNamedExports(exportClause) || !ts.isStringLiteral(from)) {
      throw new Error(`${path}: expected exports by name`);
    }
    return exportClause.elements.map(({ name, propertyName }) => [
      name.text,
      this.#elsewhere(from.text, (propertyName ?? name).text, path),
    ]);
  }

  #elsewhere(from: string, name: string, importer: string): string {
    if (!from.startsWith('.')) return `${name} of ${from}`;
    const found = this.of(join(dirname(importer), from))[name];
    if (found === undefined) throw new Error(`${importer}: ${from} has no ${name}`);
    return found;
  }
}

const printer = ts.createPrinter({ removeComments: true, newLine: ts.NewLineKind.LineFeed });

/** The exported names of a statement and their declarations, on one line each. */
function declared(statement: ts.Statement): [name: string, text: string][] {
  if (!ts.canHaveModifiers(statement)) return [];
  const modifiers = ts.getModifiers(statement) ?? [];
  if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
  const text = printer
    .printNode(ts.EmitHint.Unspecified, statement, statement.getSourceFile())
    .replaceAll(/\s+/g, ' ')
    .replace(/(\[Symbol\.\w+\]): [^;]*; (?=.*\1\()/, '') // made from one file, a method stands twice
    .replace(/^export (declare )?/, '');
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map(({ name }) => [name.getText(), text]);
  }
  const { name } = statement as ts.DeclarationStatement;
  return name === undefined ? [] : [[name.getText(), text]];
}

if (process.argv[1] === import.meta.filename) {
  const api = Object.assign({}, ...packageFolders.map(sourceApi)) as Api;
  const former = existsSync(CONTRACT) ? agreedApi() : {};
  for (const line of apiDifferences(former, api)) console.log(line);
  writeFileSync(CONTRACT, `${JSON.stringify(api, null, 2)}\n`);
}
