import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { run } from './run.ts';

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
  '@modelcontextprotocol': 'mcp',
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

/** What the compiler has against the files of a folder, with the strictness of this repository. */
export async function typeErrors(folder: string, files: readonly string[]): Promise<string> {
  // what a snippet makes may be for the text below it to use
  const compilerOptions = { noEmit: true, noUnusedLocals: false };
  const project = { extends: '../scripts/base.json', compilerOptions, files };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(project));
  const compiler = 'node_modules/typescript7/bin/tsc'; // the native one: it takes a fifth of the time
  return (await run([compiler, '-p', folder], root)).stdout;
}
