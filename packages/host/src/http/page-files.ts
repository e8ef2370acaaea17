import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

/** A file of the page, held in memory. */
export interface PageFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
  /** As it stands in an `ETag`. */
  readonly tag: string;
}

/** A built page. What is not in here is not there: no request comes to the disk. */
export interface PageFiles {
  readonly index: PageFile;
  /** By the path that they are asked by, such as `/assets/main-1a2b.js`. */
  readonly others: ReadonlyMap<string, PageFile>;
}

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
  const others = new Map<string, PageFile>();
  const favicon = regularFiles(folder).filter((name) => name === FAVICON);
  for (const name of favicon) others.set(`/${name}`, readPageFile(join(folder, name)));
  for (const name of regularFiles(join(folder, 'assets'))) {
    others.set(`/assets/${name}`, readPageFile(join(folder, 'assets', name)));
  }
  return { index: readPageFile(join(folder, 'index.html')), others };
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
  const bytes = new Uint8Array(readFileSync(path));
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  const type = TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream';
  return { bytes, type, tag: `"${hash}"` };
}
