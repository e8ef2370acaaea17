import { ApiError } from './api-error.ts';
import { messagePage, type PageSpan } from './message-rows.ts';
import type { Hub } from './hub.ts';
import { defineRoute, type Answer, type Route } from './route.ts';
import * as schemas from './schemas.ts';

/** The routes that read sessions and make new ones. */
export function sessionRoutes(hub: Hub): Route[] {
  return [createSession(hub), listSessions(hub), ...readRoutes(hub), forkSession(hub)];
}

async function made(hub: Hub, id: string): Promise<Answer> {
  return { fields: { session: await hub.session(id) }, headers: { Location: `/api/sessions/${id}` } };
}

const createSession = (hub: Hub): Route =>
  defineRoute({
    ...schemas.nothingAsked,
    method: 'post',
    path: '/sessions',
    operation: 'createSession',
    summary: 'Makes an empty session.',
    body: schemas.noBody,
    reply: { status: 201, description: 'It is made.', schema: schemas.sessionReply },
    refusals: [],
    answer: async () => made(hub, await hub.store.create()),
  });

const listSessions = (hub: Hub): Route =>
  defineRoute({
    ...schemas.nothingAsked,
    method: 'get',
    path: '/sessions',
    operation: 'listSessions',
    summary: 'Every session, the one written last first.',
    reply: { status: 200, description: 'The sessions.', schema: schemas.sessionsReply },
    refusals: [],
    answer: async () => {
      const summaries = await hub.store.list();
      const sessions = summaries.map((one) => ({ ...one, running: hub.isRunning(one.id) }));
      return { fields: { sessions } };
    },
  });

const readRoutes = (hub: Hub): Route[] => [
  defineRoute({
    ...schemas.nothingAsked,
    method: 'get',
    path: '/sessions/{id}',
    operation: 'getSession',
    summary: 'What a session is and what it is doing.',
    params: schemas.sessionParams,
    reply: { status: 200, description: 'Its state.', schema: schemas.stateReply },
    refusals: ['not_found', 'damaged'],
    answer: async ({ params: { id } }) => {
      const summary = await hub.store.summary(id);
      const state = await hub.state(id);
      return { fields: { session: { ...summary, running: state.running !== null }, ...state } };
    },
  }),
  defineRoute({
    ...schemas.nothingAsked,
    method: 'get',
    path: '/sessions/{id}/messages',
    operation: 'listMessages',
    summary:
      'The rows of a session as a person reads them, by pages, each in the order of the log: ' +
      'from the first on, or from behind a place, or those that lead up to one.',
    params: schemas.sessionParams,
    query: schemas.pageQuery,
    reply: { status: 200, description: 'A page.', schema: schemas.messagesReply },
    refusals: ['not_found', 'damaged'],
    answer: async ({ params: { id }, query }) => {
      const span = spanOf(query);
      return { fields: { ...messagePage(await hub.rows(id), span, query.limit) } };
    },
  }),
  defineRoute({
    ...schemas.nothingAsked,
    method: 'get',
    path: '/sessions/{id}/context',
    operation: 'getContext',
    summary: 'What the next request to the model would be. Opens the session.',
    params: schemas.sessionParams,
    reply: { status: 200, description: 'The request.', schema: schemas.contextReply },
    refusals: ['not_found', 'busy', 'damaged', 'gone'],
    answer: async ({ params: { id } }) => {
      const session = await hub.live.get(id);
      return { fields: { context: session.context() } };
    },
  }),
];

function spanOf({ after, before }: schemas.PageQuery): PageSpan {
  if (before === undefined) return { kind: 'after', at: after ?? -1 };
  if (after === undefined) return { kind: 'before', at: before };
  const issue = { field: 'query.before', expected: 'none beside after', came: String(before) };
  const message = `query.before: expected none beside after, got ${String(before)}`;
  throw new ApiError('invalid', message, { details: { issues: [issue] } });
}

const forkSession = (hub: Hub): Route =>
  defineRoute({
    ...schemas.nothingAsked,
    method: 'post',
    path: '/sessions/{id}/fork',
    operation: 'forkSession',
    summary: 'Makes a session of the rows of another up to the end of one of its turns.',
    params: schemas.sessionParams,
    body: schemas.forkBody,
    reply: { status: 201, description: 'It is made.', schema: schemas.sessionReply },
    refusals: ['not_found'],
    answer: async ({ params: { id }, body: { turn } }) =>
      made(hub, await hub.store.fork(id, turn)),
  });
