import type { Context } from 'hono';
import type { z } from 'zod';

import { ApiError, type ApiErrorCode } from './api-error.ts';
import { checkInput } from './check-input.ts';
import { readJson } from './read-body.ts';
import { whenSocketCloses } from './socket-end.ts';

/** What a handler is given: what came, checked. */
export interface RouteInput<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly request: Request;
  /**
   * Tells once when the connection of who asked has closed, at once when it has already; the
   * function that comes back ends the waiting.
   */
  readonly whenGone: (tell: () => void) => () => void;
}

/** What a handler gives: the fields of a reply, or a whole response. */
export type Answer =
  | { readonly fields: Record<string, unknown>; readonly headers?: Readonly<Record<string, string>> }
  | Response;

/** What a route answers when all went well: JSON, or a stream of events. */
export interface RouteReply {
  readonly status: 200 | 201 | 202;
  readonly description: string;
  /** `null`: server-sent events. */
  readonly schema: z.ZodType | null;
}

/** What is the same for those who serve a route and those who describe it. */
interface RouteFacts {
  readonly method: 'get' | 'post';
  /** Under `/api`, names in braces. */
  readonly path: string;
  /** Its name for programs. */
  readonly operation: string;
  readonly summary: string;
  /** Whether it asks for no token. */
  readonly isOpen?: boolean;
  /** Whether it is counted apart from the rest, so that no flood of requests holds it up. */
  readonly isUrgent?: boolean;
  readonly reply: RouteReply;
  /** How it may refuse, beside what all do. */
  readonly refusals: readonly ApiErrorCode[];
}

/** A route, as it is written down. The body is read of a `post` alone. */
export interface RouteDefinition<Params, Query, Body> extends RouteFacts {
  readonly params: z.ZodType<Params>;
  readonly query: z.ZodType<Query>;
  readonly body: z.ZodType<Body>;
  readonly answer: (input: RouteInput<Params, Query, Body>) => Answer | Promise<Answer>;
}

/** How what came is read. */
export interface ReadingOptions {
  /** Takes the token out of a text that a refusal quotes. */
  readonly redact: (text: string) => string;
  /** Most bytes of a body. */
  readonly bodyBytes: number;
}

/** A route in the table that the router and the document are both made from. */
export interface Route extends RouteFacts {
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  readonly body: z.ZodType;
  /** Checks what came and answers it. Rejects with what refuses it. */
  readonly answer: (c: Context, options: ReadingOptions) => Promise<Answer>;
}

/** The route, its handler shielded from whatever its schemas do not let through. */
export function defineRoute<Params, Query, Body>(
  definition: RouteDefinition<Params, Query, Body>,
): Route {
  const { answer, ...facts } = definition;
  return {
    ...facts,
    answer: async (c, { redact, bodyBytes }) => {
      const request = c.req.raw;
      const params = checkParams(facts.params, c.req.param());
      const query = checkInput(facts.query, numbered(c.req.query()), 'query', redact);
      const json = facts.method === 'post' ? await readJson(request, bodyBytes) : {};
      const body = checkInput(facts.body, json, 'body', redact);
      const whenGone = (tell: () => void): (() => void) => whenSocketCloses(c.env, tell);
      return answer({ params, query, body, request, whenGone });
    },
  };
}

/** What no id can be is an id of nothing. */
function checkParams<Params>(schema: z.ZodType<Params>, params: Record<string, string>): Params {
  const result = schema.safeParse(params);
  if (result.success) return result.data;
  throw new ApiError('not_found', 'there is nothing of that id');
}

const WHOLE = /^-?[0-9]{1,16}$/;

/** A query is text; what reads as a whole number is one. */
function numbered(query: Record<string, string>): Record<string, unknown> {
  const pairs = Object.entries(query);
  return Object.fromEntries(
    pairs.map(([name, text]) => [name, WHOLE.test(text) ? Number(text) : text]),
  );
}
