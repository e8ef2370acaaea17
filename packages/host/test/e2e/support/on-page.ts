import type { Locator, Page } from 'playwright-core';

/** How a turn can end, as the page marks it. */
export type Outcome = 'completed' | 'cancelled' | 'error' | 'step_limit' | 'interrupted';

/** Where a message is written. */
export const message = (page: Page): Locator => page.getByRole('textbox', { name: 'Message' });

export const button = (page: Page, name: string): Locator =>
  page.getByRole('button', { name, exact: true });

/** Waits until that is what stands where a message is written. */
export async function written(page: Page, text: string): Promise<void> {
  while ((await message(page).inputValue()) !== text);
}

/** Waits until the title of the window says that a turn runs, or that none does. */
export async function titleSaysRunning(page: Page, isRunning: boolean): Promise<void> {
  while ((await page.title()).startsWith('● ') !== isRunning);
}

/** Writes a message and sends it. */
export async function send(page: Page, text: string): Promise<void> {
  await message(page).fill(text);
  await button(page, 'Send').click();
}

/** Says something to the turn that runs. */
export async function steer(page: Page, text: string): Promise<void> {
  await message(page).fill(text);
  await button(page, 'Steer').click();
}

/** The card of a call, in whatever state it is. */
export const card = (page: Page, call: string): Locator => page.locator(`[data-call="${call}"]`);

/** Waits until a call stands there. */
export async function callIs(page: Page, call: string, state: string): Promise<void> {
  await page.locator(`[data-call="${call}"][data-state="${state}"]`).waitFor();
}

/**
 * Waits until so many turns have ended that way; gives what the last of them says. What comes with
 * the turn's last status, such as a reason, is waited for when it is given as `words`.
 */
export async function ended(
  page: Page,
  outcome: Outcome,
  count = 1,
  words: string | RegExp = '',
): Promise<string> {
  const badge = page.locator(`[data-outcome="${outcome}"]`).nth(count - 1);
  await badge.filter({ hasText: words }).waitFor();
  return (await badge.textContent()) ?? '';
}

/** Every reply, also one that is under way. */
export async function replies(page: Page): Promise<string[]> {
  const texts = await page.locator('.reply .markdown').allTextContents();
  return texts.map((text) => text.trim());
}

/** Waits for a reply that says exactly that. */
export async function replied(page: Page, text: string): Promise<void> {
  await page.locator('.reply .markdown').getByText(text, { exact: true }).waitFor();
}

/** What the user said, in its order. */
export const said = (page: Page): Promise<string[]> => page.locator('.user-text').allTextContents();

/** The session that the address names. */
export function sessionOf(page: Page): string {
  return new URL(page.url()).hash.slice(1);
}

/** Waits until the address names another session. */
export async function otherSession(page: Page, before: string): Promise<string> {
  await page.waitForURL((url) => url.hash !== '' && url.hash !== `#${before}`);
  return sessionOf(page);
}
