import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { BROWSER_TURN, bundle } from './support/bundle.ts';
import { CHROMIUM, launchChromium, NEEDS_CHROMIUM } from './support/chromium.ts';

/** Answered by the test itself: nothing is sent. */
const ADDRESS = 'http://page.test/';

let browser: Browser;
let page: Page;

beforeAll(async () => {
  if (CHROMIUM === null) return;
  browser = await launchChromium();
  page = await browser.newPage();
  await page.route('**', (route) => route.fulfill({ contentType: 'text/html', body: '<title>' }));
  await page.goto(ADDRESS);
});

afterAll(() => (CHROMIUM === null ? undefined : browser.close()));

const program = async (): Promise<string> =>
  (await bundle(BROWSER_TURN, 'iife')).outputFiles[0]?.text ?? '';

const inChromium = test.skipIf(CHROMIUM === null);

inChromium(`a turn runs in a page of Chromium${NEEDS_CHROMIUM}`, async () => {
  await page.evaluate(await program());
  expect(await page.evaluate('finished')).toBe('completed 6');
});

inChromium(`a turn runs in a worker, without a page and without Node${NEEDS_CHROMIUM}`, async () => {
  const code = `${await program()};finished.then(postMessage, (error) => postMessage(String(error)))`;
  const answer = page.evaluate(`new Promise((resolve, reject) => {
    const code = new Blob([${JSON.stringify(code)}], { type: 'text/javascript' });
    const worker = new Worker(URL.createObjectURL(code));
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
  })`);
  expect(await answer).toBe('completed 6');
});
