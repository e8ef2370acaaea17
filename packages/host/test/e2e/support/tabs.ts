import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';

/** Longer than any wait of a test that goes on. */
const HANG_MS = 90_000;

/** What a page without faults may say: that a request failed or was refused. */
const NETWORK = 'Failed to load resource: ';

/** What else shows that a policy was broken, from the first script on. */
const WATCH_POLICY = `addEventListener('securitypolicyviolation', (event) => {
  console.error('policy violated: ' + event.violatedDirective + ' ' + event.blockedURI);
})`;

/** Tabs that look at one host, each watched from its beginning. */
export class Tabs {
  /** Where every request went. */
  readonly requests: string[] = [];
  /** What a page must not do: throw, complain, open a dialog, break its policy. */
  readonly faults: string[] = [];
  readonly #browser: Browser;
  readonly #origin: string;
  readonly #token: string;
  readonly #contexts: BrowserContext[] = [];

  constructor(browser: Browser, origin: string, token: string) {
    this.#browser = browser;
    this.#origin = origin;
    this.#token = token;
  }

  /** The page as a person opens it for the first time; with a session, that one. */
  async open(session?: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.blank(options);
    await page.goto(`${this.#origin}/?token=${this.#token}`);
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    if (session !== undefined) await this.show(page, session);
    return page;
  }

  /** A tab of a person of its own, with nothing in it. */
  async blank(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.#browser.newContext(options);
    this.#contexts.push(context);
    context.setDefaultTimeout(HANG_MS);
    await context.addInitScript(WATCH_POLICY);
    context.on('page', (page) => {
      this.#watch(page);
    });
    return context.newPage();
  }

  /** Another tab of the same person, on a session. */
  async another(page: Page, session: string): Promise<Page> {
    const other = await page.context().newPage();
    await this.show(other, session);
    return other;
  }

  /** Goes to a session, and waits until it is followed. */
  async show(page: Page, session: string): Promise<void> {
    await page.goto(`${this.#origin}/#${session}`);
    await connected(page);
  }

  /** Fails when a page did what it must not, or asked anybody but its host. */
  check(): void {
    expect(this.faults, 'a page has no faults').toEqual([]);
    const elsewhere = this.requests.filter((url) => new URL(url).origin !== this.#origin);
    expect(elsewhere, 'a page asks its host alone').toEqual([]);
    expect(this.requests).not.toEqual([]);
  }

  async close(): Promise<void> {
    await Promise.all(this.#contexts.map((context) => context.close()));
  }

  #watch(page: Page): void {
    page.on('request', (request) => this.requests.push(request.url()));
    page.on('pageerror', (error) => this.faults.push(`thrown: ${error.message}`));
    page.on('console', (message) => {
      const isFault = message.type() === 'error' || message.type() === 'warning';
      if (isFault && !message.text().startsWith(NETWORK)) this.faults.push(message.text());
    });
    page.on('dialog', (dialog) => {
      this.faults.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  }
}

/** Waits until the page follows its session. */
export async function connected(page: Page): Promise<void> {
  await page.getByRole('status').and(page.getByText('Connected', { exact: true })).waitFor();
}
