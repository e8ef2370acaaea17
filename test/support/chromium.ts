import { existsSync } from 'node:fs';
import process from 'node:process';

import { chromium, type Browser } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The Chromium to test with: that of `CHROMIUM`, or an installed one; `null` when there is none. */
export const CHROMIUM: string | null =
  [process.env['CHROMIUM'] ?? '', ...PLACES].find((path) => path !== '' && existsSync(path)) ?? null;

/** Goes behind the title of a test that needs it, so that a skipped one says why. */
export const NEEDS_CHROMIUM: string = CHROMIUM === null ? ' (skipped: no Chromium found)' : '';

/** A browser that calls nobody by itself. */
export function launchChromium(): Promise<Browser> {
  if (CHROMIUM === null) throw new Error('expected an installed Chromium, or its path in CHROMIUM');
  return chromium.launch({
    executablePath: CHROMIUM,
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
