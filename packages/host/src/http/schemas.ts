import { TURN_OUTCOMES } from '@celestea/core';
import { z } from 'zod';

import type {
  WireApproval,
  WireContext,
  WireMessage,
  WirePage,
  WireRunning,
  WireSession,
  WireState,
} from '../wire.ts';
import { API_ERROR_CODES } from './api-error.ts';

const count = z.int().min(0);
const milliseconds = z.number().describe('Milliseconds since 1970.');
const turnId = z.string().min(1).max(64).describe('The id of a turn, such as turn-0.');
const record = z.record(z.string(), z.unknown());
const ok = z.literal(true);
const id = z.string().regex(/^[a-z0-9-]{1,64}$/);

/** What a route asks for that asks for nothing. */
const nothing: z.ZodType<object> = z.strictObject({});

/** Of a post that says nothing. */
export const noBody: z.ZodType<object> = z.strictObject({}).describe('An empty object, or nothing.');

/** To be spread into a route, which then names what it does ask for. */
export const nothingAsked: Record<'params' | 'query' | 'body', z.ZodType<object>> = {
  params: nothing,
  query: nothing,
  body: nothing,
};

/** An id that is none belongs to no session; it never comes to a file. */
export const sessionParams: z.ZodType<{ readonly id: string }> = z.strictObject({ id });

/** Checked as {@link sessionParams} are. */
export const approvalParams: z.ZodType<{ readonly id: string; readonly approval: string }> =
  z.strictObject({ id, approval: id });

/** Up to where a session is forked. */
export const forkBody: z.ZodType<{ readonly turn: string }> = z.strictObject({ turn: turnId });

/** What a person sends. */
export const inputBody: z.ZodType<{ readonly input: string }> = z.strictObject({
  input: z.string().regex(/\S/, 'a text with words in it'),
});

const reason = z.string().max(1000).optional();

/** Why a turn is cancelled. */
export const cancelBody: z.ZodType<{ readonly reason?: string | undefined }> = z.strictObject({
  reason,
});

/** The answer to a question. */
interface DecisionBody {
  readonly decision: 'allow' | 'deny';
  readonly reason?: string | undefined;
}

/** Checks a {@link DecisionBody}. */
export const decisionBody: z.ZodType<DecisionBody> = z.strictObject({
  decision: z.enum(['allow', 'deny']),
  reason: reason.describe('What the model is told of a refusal.'),
});

/** Which rows of a session are asked for: those behind a place, or those before one. */
export interface PageQuery {
  readonly after?: number | undefined;
  readonly before?: number | undefined;
  readonly limit: number;
}

/** Checks a {@link PageQuery}, but for that it has only one of the two places. */
export const pageQuery: z.ZodType<PageQuery> = z.strictObject({
  after: z.int().min(0).optional().describe('The first rows behind this place.'),
  before: z.int().min(0).optional().describe('The last rows before this place; not with `after`.'),
  limit: z.int().min(1).max(1000).default(100).describe('Most rows of a page.'),
});

/** Where a stream goes on. */
export const eventsQuery: z.ZodType<{ readonly lastEventId?: number | undefined }> =
  z.strictObject({
    lastEventId: z
      .int()
      .min(-1)
      .optional()
      .describe('The seq of the last event you have, −1 to begin with the first that is kept.'),
  });

const session: z.ZodType<WireSession> = z.object({
  id: z.string(),
  title: z.string().describe('The first words of the user; empty when not known.'),
  created_ms: milliseconds,
  changed_ms: milliseconds,
  bytes: count.describe('Of its log.'),
  turns: count.optional().describe('Left out when not known.'),
  running: z.boolean().describe('Whether a turn runs.'),
});

const running: z.ZodType<WireRunning> = z.object({
  turn: z.string(),
  input: z.string().describe('What a person sent to start it.'),
  started_ms: milliseconds,
  step: count.describe('Requests made to the model so far.'),
  reply: z
    .object({ text: z.string(), thinking: z.string() })
    .describe("What events told of the model's reply and no row holds yet."),
  waiting: z.array(z.string()).describe('What was sent to it that it has not taken yet.'),
});

const approval: z.ZodType<WireApproval> = z.object({
  id: z.string().describe('To be named in the answer.'),
  text: z.string().describe('The question in words.'),
  call_id: z.string(),
  tool: z.string(),
  args: z.unknown().describe('As the model gave them. Show them as text, never as markup.'),
  reason: z.string().describe('Why somebody has to allow it.'),
  asked_ms: milliseconds,
});

const place = {
  at: count.describe('The place of the row in the log.'),
  turn: z.string().nullable().describe('The turn it belongs to.'),
};
const parentId = z.string().optional().describe('The call that made this one.');

const message: z.ZodType<WireMessage> = z.discriminatedUnion('kind', [
  z.object({
    ...place,
    kind: z.literal('user'),
    text: z.string(),
    attachments: z.array(record).optional(),
  }),
  z.object({ ...place, kind: z.literal('assistant'), text: z.string() }),
  z.object({ ...place, kind: z.literal('thinking'), text: z.string() }),
  z.object({
    ...place,
    kind: z.literal('tool_call'),
    id: z.string(),
    name: z.string(),
    args: z.unknown(),
    parent_id: parentId,
  }),
  z.object({
    ...place,
    kind: z.literal('tool_result'),
    id: z.string().describe('The call it answers.'),
    ok: z.boolean(),
    value: z.unknown(),
    error: z.string().nullable(),
    denied: z.boolean().optional().describe('A guard or a person refused the call.'),
    abandoned: z.boolean().optional().describe('It had started, and its outcome is not known.'),
    parent_id: parentId,
  }),
  z.object({
    ...place,
    kind: z.literal('turn_end'),
    outcome: z.enum(TURN_OUTCOMES),
    error: z.string().nullable(),
  }),
]);

const context: z.ZodType<WireContext> = z.object({
  request: z.object({
    system: z.string().nullable(),
    messages: z.array(record),
    tools: z.array(record),
  }),
  tokens: z
    .object({
      system: count,
      messages: z.object({ system: count, user: count, assistant: count, tool: count }),
      tools: count,
      total: count,
    })
    .describe('Estimates.'),
  window: count.describe('Tokens of the model; 0 when not known.'),
  budget: count.nullable().describe('Tokens that system prompt and messages may take.'),
});

/** The reply that says no more than that it was done. */
export const okReply: z.ZodType = z.object({ ok });
export const sessionReply: z.ZodType = z.object({ ok, session });
export const sessionsReply: z.ZodType = z.object({ ok, sessions: z.array(session) });
export const approvalsReply: z.ZodType = z.object({ ok, approvals: z.array(approval) });
export const turnReply: z.ZodType = z.object({ ok, turn: z.string() });
export const contextReply: z.ZodType = z.object({ ok, context });

const state: z.ZodObject<{ [Name in keyof WireState]: z.ZodType<WireState[Name]> }> = z.object({
  running: running.nullable(),
  approvals: z.array(approval),
  rows: count.describe('Rows of the log at the instant that the rest tells of.'),
  last_event_id: z.int().min(-1).describe('To begin the events with: what comes is after it.'),
  undelivered: z
    .array(z.string())
    .describe('What the last turn did not take of what it was told, until the next one starts.'),
  held_elsewhere: z.boolean().describe('Whether somebody beside this host has it open.'),
});

export const stateReply: z.ZodType = z.object({ ok, session, ...state.shape });

const page: z.ZodObject<{ [Name in keyof WirePage]: z.ZodType<WirePage[Name]> }> = z.object({
  messages: z.array(message),
  previous: count.nullable().describe('`before` of the page before; null when this is the first.'),
  next: count.nullable().describe('`after` of the next page; null when this is the last.'),
});

export const messagesReply: z.ZodType = z.object({ ok, ...page.shape });

/** The one reply that is no envelope: it is for programs that know OpenAPI. */
export const openApiReply: z.ZodType = z.looseObject({ openapi: z.string(), paths: record });

/** What every refusal is answered with. */
export const errorReply: z.ZodType = z.object({
  ok: z.literal(false),
  error: z.object({
    code: z.enum(API_ERROR_CODES),
    message: z.string().describe('For people.'),
    details: z.unknown().optional(),
  }),
});

/** The schemas that have a name in the document. */
export const components: Readonly<Record<string, z.ZodType>> = {
  Session: session,
  Running: running,
  Approval: approval,
  Message: message,
  Context: context,
  NoBody: noBody,
  ForkBody: forkBody,
  InputBody: inputBody,
  CancelBody: cancelBody,
  DecisionBody: decisionBody,
  Ok: okReply,
  SessionReply: sessionReply,
  SessionsReply: sessionsReply,
  StateReply: stateReply,
  MessagesReply: messagesReply,
  ApprovalsReply: approvalsReply,
  TurnReply: turnReply,
  ContextReply: contextReply,
  OpenApi: openApiReply,
  Error: errorReply,
};
