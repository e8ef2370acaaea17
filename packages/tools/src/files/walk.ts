import { kindOf, pathIn, type FileKind, type FileRoot } from './file-root.ts';
import { SESSION_HOME } from './session-home.ts';

/**
 * What is made by machines, or fetched, and would drown what people wrote. The home of sessions of
 * the root is never listed; one further down belongs to another root.
 */
const SKIPPED_FOLDERS = new Set(['node_modules', '.git', SESSION_HOME, 'dist']);

/** One file of a walk, or a folder that could not be listed. */
export interface WalkedPath {
  shown: string;
  isReadable: boolean;
}

/**
 * The file at a path, or the files below it, sorted: each folder by name in code-unit order,
 * depth first. Links are not followed, so that no file comes twice and no circle is walked.
 * Throws when the path itself cannot be used; what goes wrong further down is passed on as not
 * readable.
 */
export async function* walkFiles(
  files: FileRoot,
  path: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<WalkedPath> {
  signal?.throwIfAborted();
  const place = await files.locate(path);
  const start = { shown: place.shown, kind: await files.kindAt(place) };
  const open: { shown: string; kind: FileKind }[] = [start];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    signal?.throwIfAborted();
    const { shown, kind } = next;
    if (kind === 'file') yield { shown, isReadable: true };
    if (kind !== 'folder') continue;
    const folder = await files.folder(shown).catch((error: unknown) => {
      if (next === start) throw error;
      return null;
    });
    if (folder === null) {
      yield { shown, isReadable: false };
      continue;
    }
    const entries = folder.entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
    for (const entry of entries.reverse()) {
      if (entry.kind === 'folder' && SKIPPED_FOLDERS.has(entry.name)) continue;
      open.push({ shown: pathIn(shown, entry.name), kind: entry.kind });
    }
  }
}
