/**
 * What `pnpm start` runs: the command `celestea` from its sources. Before `serve` it builds the
 * page when that was never done, or the page's sources have changed since.
 */
import process from 'node:process';

import { parseCommand } from '../packages/cli/src/command-line.ts';
import { buildPage, isPageStale } from './page.ts';

if (isServed() && isPageStale()) {
  process.stderr.write('building the page…\n');
  try {
    await buildPage();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`celestea: the page cannot be built: ${message}\n`); // the host goes without
  }
}
// It runs as it is loaded.
await import('../packages/cli/src/main.ts');

/** What is wrong with the command line is told by the command. */
function isServed(): boolean {
  try {
    return parseCommand(process.argv.slice(2)).kind === 'serve';
  } catch {
    return false;
  }
}
