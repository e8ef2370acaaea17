import { z } from 'zod';

import { ApiError, type ApiErrorCode } from './api-error.ts';
import type { Route } from './route.ts';
import { components } from './schemas.ts';

type Json = Record<string, unknown>;

const PREFIX = '#/components/schemas/';

/** What a route may refuse with, whatever it is. */
const ALWAYS: readonly ApiErrorCode[] = ['forbidden', 'failed'];
const BEHIND_TOKEN: readonly ApiErrorCode[] = ['invalid', 'unauthorized', 'too_many'];
const WITH_BODY: readonly ApiErrorCode[] = ['too_large', 'unsupported_media_type'];

/**
 * The OpenAPI 3.1 document of these routes, made from the schemas that check what comes.
 *
 * @param cookieName of the cookie that holds the token.
 * @throws TypeError when the schema of a body or a reply has no name in `components`.
 */
export function openApiDocument(routes: readonly Route[], cookieName: string): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = `/api${route.path}`;
    paths[path] = { ...paths[path], [route.method]: operation(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: '@celestea/host',
      version: '1',
      description: 'Sessions of celestea agents. Every refusal has the same envelope, Error.',
    },
    paths,
    components: {
      schemas: componentSchemas(),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        cookie: { type: 'apiKey', in: 'cookie', name: cookieName },
      },
    },
    security: [{ bearer: [] }, { cookie: [] }],
  };
}

function operation(route: Route): Json {
  const { operation: operationId, summary, isOpen = false } = route;
  const parameters = [
    ...parametersOf(route.params, 'path'),
    ...parametersOf(route.query, 'query'),
  ];
  return {
    operationId,
    summary,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.method === 'post' ? { requestBody: requestBody(route.body) } : {}),
    ...(isOpen ? { security: [] } : {}),
    responses: responses(route),
  };
}

/** Required also where `{}` will do: a client that leaves it out sends no type, and is refused. */
function requestBody(schema: z.ZodType): Json {
  return { required: true, content: { 'application/json': { schema: ref(schema) } } };
}

function responses({ reply, refusals, isOpen = false, method }: Route): Json {
  const { status, description, schema } = reply;
  const content =
    schema === null
      ? { 'text/event-stream': { schema: { type: 'string' } } }
      : { 'application/json': { schema: ref(schema) } };
  const codes = new Set([
    ...ALWAYS,
    ...(isOpen ? [] : BEHIND_TOKEN),
    ...(method === 'post' ? WITH_BODY : []),
    ...refusals,
  ]);
  return { [status]: { description, content }, ...refused([...codes]) };
}

/** Several codes may have one status. */
function refused(codes: readonly ApiErrorCode[]): Json {
  const content = { 'application/json': { schema: { $ref: `${PREFIX}Error` } } };
  const known = codes.map((code) => ({ code, status: new ApiError(code, '').status }));
  const responsesOf = known.map(({ status }) => {
    const all = known.filter((other) => other.status === status);
    return [status, { description: all.map(({ code }) => code).join(', '), content }];
  });
  return Object.fromEntries(responsesOf) as Json;
}

function parametersOf(schema: z.ZodType, place: 'path' | 'query'): Json[] {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input' });
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: property,
  }));
}

function ref(schema: z.ZodType): Json {
  const name = Object.entries(components).find(([, known]) => known === schema)?.[0];
  if (name === undefined) throw new TypeError('schema: expected one of components, got another');
  return { $ref: `${PREFIX}${name}` };
}

/** Each as it stands in a document; they refer to one another by name. */
function componentSchemas(): Json {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(components)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { io: 'input', uri: (id) => `${PREFIX}${id}` });
  const named = Object.entries(schemas).map(([id, schema]) => {
    const own = Object.entries(schema).filter(([name]) => name !== '$schema' && name !== '$id');
    return [id, Object.fromEntries(own)];
  });
  return Object.fromEntries(named) as Json;
}
