import { isRecord } from '@celestea/core';
import { Hono } from 'hono';
import { expect, test } from 'vitest';

import { withHost } from './http-support.ts';

type Json = Record<string, unknown>;

const inside = (value: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>((at, name) => (isRecord(at) ? at[name] : undefined), value);

async function document(work: (json: Json, routes: string[]) => void): Promise<void> {
  await withHost({}, async ({ host, ...rest }) => {
    const response = await host.app.request('/api/openapi.json', {
      headers: { authorization: `Bearer ${host.token}` },
    });
    expect(rest.folder).not.toBe('');
    expect(host.app).toBeInstanceOf(Hono);
    const served = host.app.routes
      .filter(({ method, path }) => method !== 'ALL' && path.startsWith('/api'))
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
    work((await response.json()) as Json, served);
  });
}

const operations = (json: Json): { name: string; path: string; operation: Json }[] =>
  Object.entries(json['paths'] as Json).flatMap(([path, item]) =>
    Object.entries(item as Json).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      path,
      operation: operation as Json,
    })),
  );

test('what the router serves is in the document, and nothing else is', async () => {
  await document((json, served) => {
    expect(operations(json).map(({ name }) => name).sort()).toEqual([...served].sort());
    expect(served.length).toBe(14);
  });
});

test('the document is OpenAPI 3.1', async () => {
  await document((json) => {
    expect(json).toMatchObject({ openapi: '3.1.0', info: { title: '@celestea/host', version: '1' } });
    const ids = operations(json).map(({ operation }) => operation['operationId']);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { name, path, operation } of operations(json)) {
      const parameters = (operation['parameters'] ?? []) as Json[];
      const inPath = parameters.filter((parameter) => parameter['in'] === 'path');
      const named = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      expect(inPath.map((parameter) => parameter['name'])).toEqual(named);
      for (const parameter of parameters) {
        expect(Object.keys(parameter).sort()).toEqual(['in', 'name', 'required', 'schema']);
        if (parameter['in'] === 'path') expect(parameter['required']).toBe(true);
      }
      expect('requestBody' in operation).toBe(name.startsWith('POST'));
      const statuses = Object.keys(operation['responses'] as Json);
      for (const status of statuses) {
        expect(status).toMatch(/^(20[012]|40[01345]|409|41[035]|429|500)$/);
        expect(inside(operation, 'responses', status, 'description')).toEqual(expect.any(String));
      }
    }
  });
});

test('every reference leads to a schema, and every schema is used or named by one', async () => {
  await document((json) => {
    const text = JSON.stringify(json);
    const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? '');
    const schemas = Object.keys(inside(json, 'components', 'schemas') as Json);
    const used = new Set(references.map((reference) => reference.split('/').at(-1)));
    expect(references.every((at) => at.startsWith('#/components/schemas/'))).toBe(true);
    expect([...used].sort()).toEqual([...schemas].sort());
    expect(text).not.toContain('"$id"');
  });
});

test('bodies are written down as they are checked', async () => {
  await document((json) => {
    expect(inside(json, 'components', 'schemas', 'DecisionBody')).toMatchObject({
      type: 'object',
      required: ['decision'],
      additionalProperties: false,
      properties: { decision: { enum: ['allow', 'deny'] } },
    });
  });
});

test('a body is required of every post, as its type is', async () => {
  await document((json) => {
    const posts = operations(json).filter(({ name }) => name.startsWith('POST'));
    expect(posts.length).toBeGreaterThan(5);
    for (const { operation } of posts) {
      expect(operation['requestBody']).toMatchObject({ required: true });
      expect(operation['responses']).toHaveProperty('415');
    }
  });
});

test('only healthz asks for no token', async () => {
  await document((json) => {
    const open = operations(json).filter(({ operation }) => 'security' in operation);
    expect(open.map(({ name }) => name)).toEqual(['GET /api/healthz']);
  });
});
