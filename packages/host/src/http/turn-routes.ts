import { HostError, type LiveSession } from '../sessions/index.ts';
import { ApiError } from './api-error.ts';
import type { Hub } from './hub.ts';
import { defineRoute, type Route } from './route.ts';
import * as schemas from './schemas.ts';

/** The routes that drive turns and answer their questions. */
export function turnRoutes(hub: Hub): Route[] {
  return [startTurn(hub), steerTurn(hub), cancelTurn(hub), ...approvalRoutes(hub)];
}

const startTurn = (hub: Hub): Route =>
  defineRoute({
    ...schemas.nothingAsked,
    method: 'post',
    path: '/sessions/{id}/turns',
    operation: 'startTurn',
    summary: 'Starts a turn, which runs whether anybody stays to watch or not.',
    params: schemas.sessionParams,
    body: schemas.inputBody,
    reply: { status: 202, description: 'It runs.', schema: schemas.turnReply },
    refusals: ['not_found', 'busy', 'damaged', 'gone'],
    answer: async ({ params: { id }, body: { input } }) => {
      const session = await hub.live.get(id);
      return { fields: { turn: startIn(session, input) } };
    },
  });

/** Says what runs when something does. */
function startIn(session: LiveSession, input: string): string {
  try {
    return session.startTurn(input);
  } catch (error) {
    if (!(error instanceof HostError) || error.code !== 'busy') throw error;
    throw new ApiError('busy', error.message, { details: { running: session.running() } });
  }
}

/** A session that is not open has nothing that runs. */
async function openSession(hub: Hub, id: string): Promise<LiveSession> {
  const session = hub.live.peek(id);
  if (session !== null) return session;
  await hub.store.summary(id);
  throw new HostError('idle', 'no turn runs in this session');
}

const steerTurn = (hub: Hub): Route =>
  defineRoute({
    ...schemas.nothingAsked,
    method: 'post',
    path: '/sessions/{id}/steer',
    operation: 'steerTurn',
    summary: 'Sends something to the turn that runs, which reads it before its next step.',
    params: schemas.sessionParams,
    body: schemas.inputBody,
    reply: { status: 202, description: 'It is told.', schema: schemas.okReply },
    refusals: ['not_found', 'idle', 'gone'],
    answer: async ({ params: { id }, body: { input } }) => {
      (await openSession(hub, id)).steer(input);
      return { fields: {} };
    },
  });

const cancelTurn = (hub: Hub): Route =>
  defineRoute({
    ...schemas.nothingAsked,
    method: 'post',
    path: '/sessions/{id}/cancel',
    operation: 'cancelTurn',
    summary: 'Cancels the turn that runs; its events say when it is over.',
    isUrgent: true,
    params: schemas.sessionParams,
    body: schemas.cancelBody,
    reply: { status: 202, description: 'It is told.', schema: schemas.okReply },
    refusals: ['not_found', 'idle', 'gone'],
    answer: async ({ params: { id }, body: { reason } }) => {
      (await openSession(hub, id)).cancel(reason);
      return { fields: {} };
    },
  });

const approvalRoutes = (hub: Hub): Route[] => [
  defineRoute({
    ...schemas.nothingAsked,
    method: 'get',
    path: '/sessions/{id}/approvals',
    operation: 'listApprovals',
    summary: 'The calls that wait for somebody to allow them, oldest first.',
    params: schemas.sessionParams,
    reply: { status: 200, description: 'The questions.', schema: schemas.approvalsReply },
    refusals: ['not_found'],
    answer: async ({ params: { id } }) => {
      await hub.store.summary(id);
      return { fields: { approvals: hub.now(id).approvals } };
    },
  }),
  defineRoute({
    ...schemas.nothingAsked,
    method: 'post',
    path: '/sessions/{id}/approvals/{approval}',
    operation: 'answerApproval',
    summary: 'Lets a call run, or refuses it.',
    isUrgent: true,
    params: schemas.approvalParams,
    body: schemas.decisionBody,
    reply: { status: 200, description: 'It is answered.', schema: schemas.okReply },
    refusals: ['not_found', 'gone'],
    answer: async ({ params: { id, approval }, body: { decision, reason } }) => {
      await hub.store.summary(id);
      const desk = hub.live.peek(id)?.approvals;
      if (desk === undefined) throw new HostError('gone', 'that question is not open');
      if (decision === 'allow') desk.allow(approval);
      else desk.deny(approval, reason);
      return { fields: {} };
    },
  }),
];
