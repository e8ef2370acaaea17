import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

/** A file of the page, held in memory. */
export interface PageFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
}

/**
 * A built page by the paths that it is asked by, such as `/` and `/assets/main-1a2b.js`. What is
 * not in here is not there: no request comes to the disk.
 */
export type PageFiles = ReadonlyMap<string, PageFile>;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.map': 'application/json',
};

const FAVICON = 'favicon.svg';

/** Reads a page from its folder: `index.html`, `favicon.svg`, and the files of `assets`. */
export function readPage(folder: string): PageFiles {
  const assets = join(folder, 'assets');
  const files = new Map([['/', readPageFile(join(folder, 'index.html'))]]);
  if (regularFiles(folder).includes(FAVICON)) {
    files.set(`/${FAVICON}`, readPageFile(join(folder, FAVICON)));
  }
  for (const name of regularFiles(assets)) {
    files.set(`/assets/${name}`, readPageFile(join(assets, name)));
  }
  return files;
}

/** The names of the regular files in a folder, links not among them; none without a folder. */
function regularFiles(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function readPageFile(path: string): PageFile {
  const type = TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream';
  return { bytes: new Uint8Array(readFileSync(path)), type };
}
