const html = (title: string, ...lines: string[]): string =>
  `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${title}</title></head>
<body>
<h1>${title}</h1>
${lines.join('\n')}
</body>
</html>
`;

/** What stands at `/` of a host without a built page. No script, no style. */
export const PAGE: string = html(
  'celestea',
  '<p>This host runs. Its page is not built yet: <code>pnpm build</code> builds it. Everything',
  'works over HTTP:</p>',
  '<pre>',
  'POST /api/sessions                                   makes a session',
  'POST /api/sessions/{id}/turns     {"text":"hello"}   starts a turn',
  'GET  /api/sessions/{id}/events                       what happens, as server-sent events',
  'GET  /api/sessions/{id}/messages                     what was said',
  '</pre>',
  '<p>A program sends <code>Authorization: Bearer TOKEN</code>, and what it posts as',
  '<code>Content-Type: application/json</code>. All routes:',
  '<a href="/api/openapi.json">/api/openapi.json</a></p>',
);

/** What stands at `/` for those who did not show the token. */
export const LOCKED_PAGE: string = html(
  'celestea',
  '<p>Open the address that the host gave you, the one with <code>?token=</code> in it.</p>',
);
