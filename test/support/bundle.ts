import { join } from 'node:path';

import { build, type BuildResult } from 'esbuild';

const root = join(import.meta.dirname, '../..');

/** A program beside the sources, as one file for browsers. */
export const bundle = (
  contents: string,
  format: 'esm' | 'iife',
): Promise<BuildResult<{ write: false; metafile: true }>> =>
  build({
    stdin: { contents, resolveDir: root, loader: 'ts' },
    absWorkingDir: root,
    bundle: true,
    minify: true,
    format,
    platform: 'browser',
    target: 'es2022',
    write: false,
    metafile: true,
    logLevel: 'silent',
  });

/** A turn with a tool and a time limit; how it went becomes the promise `finished`. */
export const BROWSER_TURN = `
  import { DefaultAgentLoop, defaultAgentConfig } from './src/index.ts';
  import { callTools, FakeSessionLog, FakeToolRegistry, say, ScriptedLlm, testContext }
    from './src/testing/index.ts';
  const llm = new ScriptedLlm([callTools({ id: 'a', name: 'x', args: {} }), say('done')]);
  const tools = new FakeToolRegistry({ x: () => 1 });
  const log = new FakeSessionLog();
  const turn = new DefaultAgentLoop(defaultAgentConfig())
    .streamTurn(testContext({ llm, tools, log }), 'hi', { timeouts: { toolMs: 1000 } });
  globalThis.finished = turn.outcome.then((outcome) => outcome + ' ' + log.rows.length);
`;
