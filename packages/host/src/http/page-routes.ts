import type { Context, Handler, Hono } from 'hono';
import { setCookie } from 'hono/cookie';

import { ApiError } from './api-error.ts';
import { checkRate, showsToken, type Gate } from './gate.ts';
import type { PageFile, PageFiles } from './page-files.ts';
import { LOCKED_PAGE, PAGE } from './page.ts';

/** The paths of the page, names in braces. */
export const PAGE_PATHS: readonly string[] = ['/', '/assets/{name}', '/favicon.svg'];

/** Assets are named after what is in them. No proxy may keep them: it would ask for no token. */
const FOR_GOOD = 'private, max-age=31536000, immutable';

/** Serves the page and its files, or without one what stands in its place. */
export function servePage(app: Hono, gate: Gate, page: PageFiles | null): void {
  app.get('/', openPage(gate, page));
  app.get('/assets/*', (c) => pageFile(c, page, FOR_GOOD));
  app.get('/favicon.svg', (c) => pageFile(c, page, 'no-store'));
}

/** The token in the address becomes a cookie, so that it stands in no address any longer. */
function openPage(gate: Gate, page: PageFiles | null): Handler {
  return (c) => {
    const shown = c.req.query('token');
    if (shown !== undefined && gate.token.fits(shown)) {
      checkRate(gate.rate);
      setCookie(c, gate.token.cookieName, gate.token.text, {
        httpOnly: true,
        sameSite: 'Strict',
        path: '/',
      });
      return c.redirect('/', 303);
    }
    if (shown !== undefined || !showsToken(c, gate)) return c.html(LOCKED_PAGE, 401);
    checkRate(gate.rate);
    if (page === null) return c.html(PAGE);
    return c.body(page.index.bytes, 200, { 'Content-Type': page.index.type });
  };
}

function pageFile(c: Context, page: PageFiles | null, caching: string): Response {
  const file = page?.others.get(c.req.path);
  if (file === undefined) throw new ApiError('not_found', 'there is no such file');
  const headers = { ETag: file.tag, 'Cache-Control': caching };
  if (isKnown(file, c.req.header('if-none-match'))) return c.body(null, 304, headers);
  return c.body(file.bytes, 200, { ...headers, 'Content-Type': file.type });
}

/** Whether who asks has the file already. */
function isKnown({ tag }: PageFile, header = ''): boolean {
  const tags = header.split(',').map((one) => one.trim().replace(/^W\//, ''));
  return tags.includes(tag) || tags.includes('*');
}
