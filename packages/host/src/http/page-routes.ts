import type { Context, Handler, Hono } from 'hono';
import { setCookie } from 'hono/cookie';

import { ApiError } from './api-error.ts';
import { checkRate, showsToken, type Gate } from './gate.ts';
import type { PageFile, PageFiles } from './page-files.ts';

/** The paths of the page. */
export const PAGE_PATHS: readonly string[] = ['/', '/assets/:name', '/favicon.svg'];

/** Assets are named after what is in them. No proxy may keep them: it would ask for no token. */
const FOR_GOOD = 'private, max-age=31536000, immutable';

/** Serves the page and its files, or without one what stands in its place. */
export function servePage(app: Hono, gate: Gate, page: PageFiles): void {
  app.get('/', openPage(gate, page.get('/')));
  app.get('/assets/:name', (c) => pageFile(c, page, FOR_GOOD));
  app.get('/favicon.svg', (c) => pageFile(c, page, 'no-store'));
}

/** The token in the address becomes a cookie, so that it stands in no address any longer. */
function openPage(gate: Gate, index: PageFile | undefined): Handler {
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
    if (index === undefined) return c.html(NO_PAGE);
    return c.body(index.bytes, 200, { 'Content-Type': index.type });
  };
}

function pageFile(c: Context, page: PageFiles, caching: string): Response {
  const file = page.get(c.req.path);
  if (file === undefined) throw new ApiError('not_found', 'there is no such file');
  return c.body(file.bytes, 200, { 'Cache-Control': caching, 'Content-Type': file.type });
}

const html = (body: string): string =>
  `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>celestea</title></head>
<body>
<h1>celestea</h1>
${body}
</body>
</html>
`;

/** What stands at `/` of a host without a built page. No script, no style. */
const NO_PAGE = html(
  `<p>This host runs. Its page is not built yet: <code>pnpm build</code> builds it. Everything works
over HTTP: a program sends <code>Authorization: Bearer TOKEN</code>, and what it posts as
<code>Content-Type: application/json</code>. All routes:
<a href="/api/openapi.json">/api/openapi.json</a></p>`,
);

/** What stands at `/` for those who did not show the token. */
const LOCKED_PAGE = html(
  '<p>Open the address that the host gave you, the one with <code>?token=</code> in it.</p>',
);
