/** Builds the page of `@celestea/host`. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const host = join(import.meta.dirname, '../packages/host');
const source = join(host, 'page');

/** Where the host looks for its page. */
export const BUILT_PAGE: string = join(host, 'dist/page');

/** Nothing of it is inline: its content security policy allows no such thing. */
export async function buildPage(folder: string = BUILT_PAGE): Promise<void> {
  const { build } = await import('vite'); // who has the page built already does without
  await build({
    root: source,
    configFile: false,
    logLevel: 'warn',
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: 'es2023',
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
  });
}

/** Whether it was never built, or its sources have changed since. */
export const isPageStale = (): boolean =>
  changedMs(source) > changedMs(join(BUILT_PAGE, 'index.html'));

/** When a file, or the newest thing in a folder, was changed; what is not there never was. */
function changedMs(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) return stats?.mtimeMs ?? -Infinity;
  const inside = readdirSync(path).filter((name) => name !== 'node_modules');
  return Math.max(stats.mtimeMs, ...inside.map((name) => changedMs(join(path, name))));
}
