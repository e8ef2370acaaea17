import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { run } from './support/run.ts';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(root, '.snippets-'));

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const documents = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((file) => file.endsWith('.md'))
    .map((file) => join('docs', file)),
  ...readdirSync(join(root, 'packages')).map((name) => join('packages', name, 'README.md')),
];

const fences = (document: string, language: string): string[] => {
  const text = readFileSync(join(root, document), 'utf8');
  const fence = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm');
  return [...text.matchAll(fence)].map((match) => match[1] ?? '');
};

const snippets = documents.flatMap((document) =>
  fences(document, 'ts').map((code, index) => ({ document, number: index + 1, code })),
);

test('the README has snippets to run', () => {
  expect(snippets.filter(({ document }) => document === 'README.md').length).toBeGreaterThan(1);
});

/** Rules that are ours by default: what L8 names, and the defaults of the X rules. */
const DIFFERENT = [
  ...['C4.6', 'L2.6', 'L3.6', 'L4.6'],
  ...['X2', 'X3', 'X4', 'X7', 'X9', 'X11', 'X15', 'X17', 'X18'],
];

test('L8 every rule that differs from the engine is listed under Divergences', () => {
  const text = readFileSync(join(root, 'README.md'), 'utf8');
  const section = /^## Divergences$([^]*?)^## /m.exec(text)?.[1] ?? '';
  for (const rule of DIFFERENT) expect(section).toContain(`- ${rule}: `);
});

test.each(snippets)('snippet $number of $document runs', async ({ document, number, code }) => {
  const file = join(folder, `${document.replaceAll(/\W/g, '-')}-${String(number)}.ts`);
  writeFileSync(file, code);
  const { exitCode, stdout, stderr } = await run(['--import', 'tsx', file], root);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  // A comment behind a console.log says what it prints.
  const promised = [...code.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map((match) => match[1]);
  for (const line of promised) expect(stdout.split('\n')).toContain(line);
});

test('the first command of the README runs a turn', async () => {
  const commands = fences('README.md', 'sh').join('');
  const question = /^npx -y pnpm@10 start "(.*)"$/m.exec(commands)?.[1] ?? '';
  expect(question).not.toBe('');
  const { exitCode, stdout } = await run(
    ['--import', 'tsx', 'packages/cli/src/main.ts', '--no-session', question],
    root,
  );
  expect(stdout).toContain('completed');
  expect(exitCode).toBe(0);
});
