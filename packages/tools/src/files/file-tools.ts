import type { Tool } from '@celestea/core';

import { FileRoot } from './file-root.ts';
import { listDirTool } from './list-dir.ts';
import { readFileTool } from './read-file.ts';
import { searchTextTool } from './search-text.ts';

/**
 * The read-only file tools over one folder, which they cannot leave: `list_dir`, `read_file` and
 * `search_text`. Links in the path of `root` are resolved once, here. Throws a `TypeError` when
 * `root` is no path, an `Error` when no folder stands there.
 */
export function fileTools(root: string): Tool[] {
  const { path } = new FileRoot(root);
  return [listDirTool(path), readFileTool(path), searchTextTool(path)];
}
