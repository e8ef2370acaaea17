import axe from 'axe-core';
import type { Page } from 'playwright-core';

const RUN = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`;

/** What keeps people from using the page as it is now, in words: serious and critical alone. */
export async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(`${axe.source}; null`);
  return page.evaluate<string[]>(RUN);
}

/** The parts of the page that are wider than they may be. */
export function sideways(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(
    `[document.documentElement, ...document.querySelectorAll('.scroller, .below, .bar, .sidebar')]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map(({ className, tagName }) => className || tagName)`,
  );
}
