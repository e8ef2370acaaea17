import type { PathLike } from 'node:fs';
import type * as files from 'node:fs/promises';

import { listDirTool, readFileTool, searchTextTool, workTools } from '@celestea/tools';
import { expect, test, vi } from 'vitest';

import { failureOf, freshFolder } from './support/folder.ts';
import { toolNamed } from './support/work.ts';

// A disk that takes another spelling for the same folder, and gives a path back as it was asked for.
vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof files>();
  const own = (path: PathLike): string => String(path).replace(/\.celestea(?=\/|$)/gi, '.celestea');
  return {
    ...real,
    realpath: async (path: PathLike) => {
      await real.realpath(own(path));
      return path;
    },
    lstat: (path: PathLike, options: object) => real.lstat(own(path), options),
    stat: (path: PathLike, options: object) => real.stat(own(path), options),
    open: (path: PathLike, ...rest: []) => real.open(own(path), ...rest),
    readdir: (path: PathLike, options: object) => real.readdir(own(path), options),
  };
});

const REFUSAL = 'path: ".celestea" holds the sessions and is not for tools';

test.each(['.CELESTEA', '.Celestea/token', '.celestEA/sessions/none.jsonl'])(
  'no spelling that the disk takes reaches the home of the sessions: %s',
  async (path) => {
    const root = freshFolder({ '.celestea/token': 'tea' });
    const write = toolNamed(workTools(root, { ask: false }), 'write_file');
    const texts = [
      await failureOf(listDirTool(root), { path }),
      await failureOf(readFileTool(root), { path }),
      await failureOf(searchTextTool(root), { path, query: 'tea' }),
      await failureOf(write, { path, content: 'x' }),
    ];
    expect(texts).toEqual([REFUSAL, REFUSAL, REFUSAL, REFUSAL]);
  },
);
