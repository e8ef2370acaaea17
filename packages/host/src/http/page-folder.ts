import { statSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Where the built page is, for code in this folder: beside what is built, `src` or not. */
export function pageFolderFor(codeFolder: string): string {
  const isBuilt = basename(codeFolder) === 'dist';
  return isBuilt ? join(codeFolder, 'page') : join(codeFolder, '../../dist/page');
}

/** Whether there is a page in a folder. */
export function holdsPage(folder: string): boolean {
  try {
    return statSync(join(folder, 'index.html')).isFile();
  } catch {
    return false;
  }
}

/** The page that was built with this code; `null` when none was. */
export function builtPageFolder(): string | null {
  const folder = pageFolderFor(import.meta.dirname);
  return holdsPage(folder) ? folder : null;
}
