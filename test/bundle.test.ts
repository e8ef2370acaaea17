import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { bundle, BROWSER_TURN } from './support/bundle.ts';

test('bundled for the browser it is the library and core alone, at most 15 KB gzipped', async () => {
  const { outputFiles, metafile } = await bundle("export * from './src/index.ts'", 'esm');
  const strangers = Object.keys(metafile.inputs).filter(
    (file) => !/^(src|packages\/core\/src)\/|^<stdin>$/.test(file),
  );
  expect(strangers).toEqual([]);
  const bytes = outputFiles[0]?.contents ?? new Uint8Array();
  expect(gzipSync(bytes, { level: 9 }).length).toBeLessThanOrEqual(15 * 1024);
});

test('a turn runs where there is nothing of Node, only what browsers have', async () => {
  const { outputFiles } = await bundle(BROWSER_TURN, 'iife');
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
