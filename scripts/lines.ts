/**
 * Prints how many lines that are not blank each package has, of product and of tests: the `.ts`,
 * `.tsx` and `.css` files that git knows.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

interface Count {
  files: number;
  lines: number;
  testFiles: number;
  testLines: number;
}

const none = (): Count => ({ files: 0, lines: 0, testFiles: 0, testLines: 0 });

/** `packages/NAME` and the root's own `src` and `test`; the other folders are the workshop. */
function placeOf(file: string): string {
  const [first = '', second = ''] = file.split('/');
  if (first === 'packages') return second;
  return first === 'src' || first === 'test' ? 'agent-loop' : 'the workshop';
}

function count(): Map<string, Count> {
  const listed = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' });
  const counts = new Map<string, Count>();
  for (const file of listed.split('\n').filter((name) => /\.(ts|tsx|css)$/.test(name))) {
    const text = readFileSync(join(root, file), 'utf8');
    const lines = text.split('\n').filter((line) => line.trim() !== '').length;
    const place = counts.get(placeOf(file)) ?? none();
    counts.set(placeOf(file), place);
    if (/(^|\/)test\//.test(file)) {
      place.testFiles += 1;
      place.testLines += lines;
    } else {
      place.files += 1;
      place.lines += lines;
    }
  }
  return counts;
}

const counts = [...count()].sort(([a], [b]) => a.localeCompare(b));
const packages = counts.filter(([place]) => place !== 'the workshop').map(([, each]) => each);
const sum = packages.reduce((all, each) => ({
  files: all.files + each.files,
  lines: all.lines + each.lines,
  testFiles: all.testFiles + each.testFiles,
  testLines: all.testLines + each.testLines,
}), none());
const rows = [...counts, ['all packages', sum] as const].map(
  ([place, { files, lines, testFiles, testLines }]) =>
    `| ${place} | ${String(lines)} | ${String(files)} | ${String(testLines)} | ${String(testFiles)} |`,
);
const head = ['| | product, lines | files | tests, lines | files |', '| --- | ---: | ---: | ---: | ---: |'];
process.stdout.write(`${[...head, ...rows].join('\n')}\n`);
