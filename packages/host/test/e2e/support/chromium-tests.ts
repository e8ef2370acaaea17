import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, test } from 'vitest';

import { buildPage } from '../../../../../scripts/page.ts';
import { CHROMIUM, launchChromium, NEEDS_CHROMIUM } from '../../../../../test/support/chromium.ts';
import { TOKEN, withServer, type TestHost, type TestHostOptions } from '../../http-support.ts';
import { Tabs } from './tabs.ts';

/** Only a hang takes a test this long, in milliseconds; many rows take some time. */
const HANG_MS = 600_000;

/** A served host with the built page, and the tabs that look at it. */
export interface Stage {
  readonly host: TestHost;
  readonly tabs: Tabs;
}

/** What a test is given to work with. */
export interface Chromium {
  readonly browser: Browser;
  /** The folder of the built page. */
  readonly page: string;
  /** Serves a host for as long as the work takes, then checks and closes its tabs. */
  readonly serve: (
    options: TestHostOptions,
    work: (stage: Stage) => Promise<void>,
  ) => Promise<void>;
}

/** Defines a test that needs a browser. */
export type InChromium = (title: string, work: (chromium: Chromium) => Promise<void>) => void;

/**
 * One browser for the tests of a file, and the page built once for them, into a folder of their
 * own: the build takes a second, and no other file can find a page half written.
 */
export function inChromium(): InChromium {
  let folder = '';
  let browser: Browser | null = null;
  beforeAll(async () => {
    if (CHROMIUM === null) return;
    folder = mkdtempSync(join(tmpdir(), 'celestea-page-'));
    await buildPage(folder);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    if (folder !== '') rmSync(folder, { recursive: true, force: true });
  });
  return (title, work) => {
    const named = `${title}${NEEDS_CHROMIUM}`;
    test.skipIf(CHROMIUM === null)(named, { timeout: HANG_MS }, async () => {
      if (browser === null) throw new Error('expected a browser that was started');
      await work({ browser, page: folder, serve: serving(browser, folder) });
    });
  };
}

function serving(browser: Browser, page: string): Chromium['serve'] {
  return (options, work) =>
    withServer({ page, ...options }, async ({ url }, host) => {
      const tabs = new Tabs(browser, url, TOKEN);
      try {
        await work({ host, tabs });
        tabs.check();
      } finally {
        await tabs.close();
      }
    });
}
