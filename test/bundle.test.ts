import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';

import { build, type BuildResult } from 'esbuild';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

const bundle = (
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

test('bundled for the browser it is the library and core alone, at most 14 KB gzipped', async () => {
  const { outputFiles, metafile } = await bundle("export * from './src/index.ts'", 'esm');
  const strangers = Object.keys(metafile.inputs).filter(
    (file) => !/^(src|packages\/core\/src)\/|^<stdin>$/.test(file),
  );
  expect(strangers).toEqual([]);
  const bytes = outputFiles[0]?.contents ?? new Uint8Array();
  expect(gzipSync(bytes, { level: 9 }).length).toBeLessThanOrEqual(14 * 1024);
});

test('a turn runs where there is nothing of Node, only what browsers have', async () => {
  const { outputFiles } = await bundle(
    `
    import { DefaultAgentLoop, defaultAgentConfig } from './src/index.ts';
    import { callTools, FakeSessionLog, FakeToolRegistry, say, ScriptedLlm, testContext }
      from './src/testing/index.ts';
    const llm = new ScriptedLlm([callTools({ id: 'a', name: 'x', args: {} }), say('done')]);
    const tools = new FakeToolRegistry({ x: () => 1 });
    const log = new FakeSessionLog();
    const turn = new DefaultAgentLoop(defaultAgentConfig())
      .streamTurn(testContext({ llm, tools, log }), 'hi', { timeouts: { toolMs: 1000 } });
    globalThis.finished = turn.outcome.then((outcome) => outcome + ' ' + log.rows.length);
  `,
    'iife',
  );
  const browser: { finished?: Promise<string> } & Record<string, unknown> = {
    AbortController,
    DOMException,
    TextEncoder,
    MessageChannel,
    performance,
    setTimeout,
    clearTimeout,
  };
  runInContext(outputFiles[0]?.text ?? '', createContext(browser));
  expect(await browser.finished).toBe('completed 6');
});
