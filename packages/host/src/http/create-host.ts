import { Hono, type Context, type Handler, type MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';

import { ApiError, toApiError } from './api-error.ts';
import { eventRoutes } from './event-routes.ts';
import { checkHost, checkSite, checkToken, RateLimit, type Gate } from './gate.ts';
import { HostNames } from './host-names.ts';
import { checkHostOptions, type HostOptions } from './host-options.ts';
import { Hub } from './hub.ts';
import { openApiDocument } from './open-api.ts';
import { readPage } from './page-files.ts';
import { PAGE_PATHS, servePage } from './page-routes.ts';
import { errorReply, secure, successReply } from './replies.ts';
import { defineRoute, type Route } from './route.ts';
import { nothingAsked, okReply, openApiReply } from './schemas.ts';
import { sessionRoutes } from './session-routes.ts';
import { turnRoutes } from './turn-routes.ts';

/** The answer to what was thrown on the way to the route of that path. */
type Refuse = (error: unknown, c: Context, path: string) => Response;

/** Sessions behind HTTP. */
export interface Host {
  /** Answers requests: `app.request(…)` without a server, `serveHost` with one. */
  readonly app: Hono;
  /** What callers have to show. Keep it to yourself. */
  readonly token: string;
  /** Every route of the API, as the router and the document have it. */
  readonly routes: readonly Route[];
  /** Tells the host a port it listens at: loopback names are right with such a port alone. */
  listensAt(port: number): void;
  /**
   * Cancels what runs, ends the streams, closes the sessions; a second call waits for the first.
   * Rejects with a `HostError` when rows may not be on the disk.
   */
  close(): Promise<void>;
}

const METRICS_PATH = '/metrics';
/** More than a person can do, beside whatever floods the rest. */
const URGENT_PER_MINUTE = 120;

/**
 * Makes a host; nothing listens yet. The page is read now, and nothing of the sessions before it
 * is asked for.
 *
 * @throws TypeError that names the option that is not what it has to be.
 * @example const server = await serveHost(createHost({ folder, parts: { llm, tools, config } }))
 */
export function createHost(options: HostOptions): Host {
  const checked = checkHostOptions(options);
  const hub = new Hub(checked);
  const names = new HostNames(checked.allowedHosts);
  const routes = allRoutes(hub);
  const gate: Gate = {
    token: hub.token,
    names,
    rate: new RateLimit(checked.requestsPerMinute),
    urgentRate: new RateLimit(URGENT_PER_MINUTE),
    isUrgent: urgentAmong(routes),
  };
  const app = new Hono();
  const refuse = refuser(hub);
  app.use('*', observing(hub));
  serveFrame(app, gate, refuse);
  servePage(app, gate, checked.page === null ? new Map() : readPage(checked.page));
  serveMetrics(app, hub);
  serveRoutes(app, routes, refuse, hub);
  for (const path of [...PAGE_PATHS, METRICS_PATH]) app.all(path, refuseMethod(['get']));
  let closing: Promise<void> | null = null;
  return {
    app,
    token: checked.token,
    routes,
    listensAt: (port) => {
      names.listensAt(port);
    },
    close: () => (closing ??= hub.close()),
  };
}

function allRoutes(hub: Hub): Route[] {
  const routes = [...sessionRoutes(hub), ...turnRoutes(hub), ...eventRoutes(hub)];
  let document: Record<string, unknown> = {};
  routes.push(
    defineRoute({
      ...nothingAsked,
      method: 'get',
      path: '/openapi.json',
      operation: 'getOpenApi',
      summary: 'This document.',
      reply: { status: 200, description: 'An OpenAPI 3.1 document.', schema: openApiReply },
      refusals: [],
      answer: () => Response.json(document),
    }),
    defineRoute({
      ...nothingAsked,
      method: 'get',
      path: '/healthz',
      operation: 'getHealth',
      summary: 'Whether the host answers. Asks for no token.',
      isOpen: true,
      reply: { status: 200, description: 'It does.', schema: okReply },
      refusals: ['invalid'],
      answer: () => ({ fields: {} }),
    }),
  );
  document = openApiDocument(routes, hub.token.cookieName);
  return routes;
}

/** Tells the requests of the routes that are counted apart, each of them a post. */
function urgentAmong(routes: readonly Route[]): Gate['isUrgent'] {
  const paths = new Set(routes.filter(({ isUrgent = false }) => isUrgent).map(honoPath));
  return (c) => c.req.method === 'POST' && matchedRoutes(c).some(({ path }) => paths.has(path));
}

/** What is answered with a 500 is told to the owner of the host alone. */
function refuser({ token, observer }: Hub): Refuse {
  return (error, c, path) => {
    const refusal = toApiError(error);
    if (refusal.status === 500) observer.onFault(error, { method: methodOf(c), path });
    return errorReply(refusal, token);
  };
}

const METHODS: readonly string[] = ['GET', 'HEAD', 'POST'];

/** A method, of which there are only a few whatever a caller writes. */
const methodOf = ({ req: { method } }: Context): string =>
  METHODS.includes(method) ? method : 'other';

/** The pattern of the route that a request came to; nothing of what a caller wrote. */
function routeOf(c: Context): string {
  const { path } = matchedRoutes(c).findLast((route) => !route.path.endsWith('*')) ?? {};
  return path?.replaceAll(/:(\w+)/g, '{$1}') ?? 'other';
}

/** Outermost, so that every request is seen as it was answered. */
function observing({ observer }: Hub): MiddlewareHandler {
  return async (c, next) => {
    const began = performance.now();
    await next();
    const milliseconds = Math.round(performance.now() - began);
    const [route, method] = [routeOf(c), methodOf(c)];
    observer.onRequest({ route, method, status: c.res.status, milliseconds });
  };
}

function serveMetrics(app: Hono, { observer }: Hub): void {
  app.get(METRICS_PATH, async (c) => {
    const { text, type } = await observer.metrics();
    return c.body(text, 200, { 'Content-Type': type });
  });
}

/** What is around every request, whatever it asks for. */
function serveFrame(app: Hono, gate: Gate, refuse: Refuse): void {
  app.onError((error, c) => refuse(error, c, ''));
  app.notFound((c) => refuse(new ApiError('not_found', 'there is no such route'), c, ''));
  const frame: MiddlewareHandler = async (c, next) => {
    await next();
    secure(c.res.headers);
  };
  const admit: MiddlewareHandler = async (c, next) => {
    checkHost(c, gate);
    if (c.req.path !== '/') {
      checkSite(c);
      if (c.req.path !== '/api/healthz') checkToken(c, gate);
    }
    await next();
  };
  app.use('*', frame, admit);
}

function serveRoutes(
  app: Hono,
  routes: readonly Route[],
  refuse: Refuse,
  { token, options: { bodyBytes } }: Hub,
): void {
  const reading = { redact: (text: string): string => token.redact(text), bodyBytes };
  for (const route of routes) {
    app.on(route.method.toUpperCase(), honoPath(route), async (c) => {
      try {
        return successReply(await route.answer(c, reading), route.reply);
      } catch (error) {
        return refuse(error, c, `/api${route.path}`);
      }
    });
  }
  for (const path of new Set(routes.map(honoPath))) {
    const known = routes.filter((route) => honoPath(route) === path);
    app.all(path, refuseMethod(known.map(({ method }) => method)));
  }
}

function refuseMethod(methods: readonly string[]): Handler {
  const known = methods.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : ['POST']));
  return () => {
    const headers = { Allow: known.sort().join(', ') };
    throw new ApiError('method_not_allowed', `expected ${known.join(' or ')}`, { headers });
  };
}

const honoPath = ({ path }: Route): string => `/api${path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
