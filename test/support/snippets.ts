import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import ts from 'typescript';

export const root = join(import.meta.dirname, '..', '..');

/** One TypeScript snippet of a document. */
export interface Snippet {
  /** Its document, from the root. */
  readonly document: string;
  /** Counted from 1, those that are not run included. */
  readonly number: number;
  readonly code: string;
  /** What it prints, when the next fence says so: a `text` one. */
  readonly prints: string;
  /** Why it is not run, when its fence says so: `ts no-run`, then the reason. */
  readonly skipped: string | null;
}

/** The Markdown files of a folder and of those below it, from the root. */
export function markdownIn(folder: string): string[] {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.md')).map((file) => join(folder, file)).sort();
}

interface Fence {
  readonly language: string;
  /** What stands behind the language. */
  readonly info: string;
  readonly code: string;
  readonly next: Fence | null;
}

/** The fences of a document in a language. */
export function fences(document: string, language: string): Fence[] {
  const text = readFileSync(join(root, document), 'utf8');
  const found = [...text.matchAll(/^```(\S*)(?: (.*))?\n([^]*?)^```$/gm)];
  const all = found.reduceRight<Fence[]>((later, [, named = '', info = '', code = '']) => {
    return [{ language: named, info, code, next: later[0] ?? null }, ...later];
  }, []);
  return all.filter((fence) => fence.language === language);
}

/** Every TypeScript snippet of a document, in order. */
export function snippetsOf(document: string): Snippet[] {
  return fences(document, 'ts').map(({ info, code, next }, index) => {
    const skipped = /^no-run (.*)$/.exec(info)?.[1] ?? null;
    const prints = next?.language === 'text' ? next.code : '';
    return { document, number: index + 1, code, prints, skipped };
  });
}

/** What a reader installs beside the library, and the package of ours that has it. */
const BESIDE: Record<string, string> = {
  '@hono': 'host',
  '@modelcontextprotocol': 'tools',
  '@opentelemetry': 'otel',
  hono: 'host',
  zod: 'tools',
};

/** A folder in the root, so that imports are found as in a program of a reader. */
export function snippetFolder(): string {
  const folder = mkdtempSync(join(root, '.snippets-'));
  mkdirSync(join(folder, 'node_modules'));
  for (const [name, owner] of Object.entries(BESIDE)) {
    const target = join(root, 'packages', owner, 'node_modules', name);
    symlinkSync(target, join(folder, 'node_modules', name));
  }
  return folder;
}

/**
 * Where a snippet is written. One that begins with a comment of a file's name, such as
 * `// turn-response.ts`, has that name, and later snippets of its document can import it.
 */
export function snippetPath(folder: string, { document, number, code }: Snippet): string {
  const name = /^\/\/ ([\w-]+\.ts)\n/.exec(code)?.[1] ?? `${String(number)}.ts`;
  return join(folder, document.replaceAll(/\W/g, '-'), name);
}

/** Writes a snippet to its path. */
export function writeSnippet(folder: string, snippet: Snippet): void {
  const path = snippetPath(folder, snippet);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, snippet.code);
}

/** What the compiler has against these files, with the strictness of this repository. */
export function typeErrors(files: readonly string[]): string[] {
  const { config } = ts.readConfigFile(join(root, 'config/base.json'), (path) =>
    readFileSync(path, 'utf8'),
  ) as { config: unknown };
  // what a snippet makes may be for the text below it to use
  const own = { noEmit: true, noUnusedLocals: false };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root, own);
  const program = ts.createProgram(files, options);
  return ts.getPreEmitDiagnostics(program).flatMap(({ file, start = 0, messageText }) => {
    if (file === undefined || !files.includes(file.fileName)) return [];
    const line = String(file.getLineAndCharacterOfPosition(start).line + 1);
    return [`${file.fileName}:${line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`];
  });
}
