import { describe, expect, test } from 'vitest';

import { AccessToken } from '../src/http/access-token.ts';
import {
  BEARER,
  checkHead,
  COOKIE,
  cookieName,
  errorOf,
  JSON_TYPE,
  TOKEN,
  withHost,
} from './http-support.ts';

describe('the token', () => {
  const wrong = { ...BEARER, authorization: `Bearer ${TOKEN.slice(0, -1)}x` };

  test.each<[string, Record<string, string>]>([
    ['none', {}],
    ['a wrong one', wrong],
    ['an empty one', { authorization: 'Bearer ' }],
    ['another scheme', { authorization: `Basic ${TOKEN}` }],
    ['a wrong cookie', { cookie: `${cookieName(TOKEN)}=other` }],
    ['the right cookie beside a wrong header', { ...wrong, cookie: COOKIE }],
    ['the right one in a cookie of another name', { cookie: `celestea_token=${TOKEN}` }],
  ])('without the right one (%s) every route is closed but healthz', async (_, headers) => {
    await withHost({}, async (host) => {
      for (const { method, path, isOpen = false } of host.host.routes) {
        const url = `/api${path.replaceAll(/\{\w+\}/g, 'x')}`;
        const reply = await host.ask(method.toUpperCase(), url, { headers });
        expect(reply.status).toBe(isOpen ? 200 : 401);
        if (!isOpen) expect(reply.headers.get('www-authenticate')).toBe('Bearer');
      }
      expect((await host.ask('GET', '/api/nothing', { headers })).status).toBe(401);
      expect((await host.ask('GET', '/elsewhere', { headers })).status).toBe(401);
    });
  });

  test('the cookie is as good as the header', async () => {
    await withHost({}, async (host) => {
      const headers = { cookie: COOKIE, ...JSON_TYPE };
      expect((await host.ask('POST', '/api/sessions', { headers, body: '{}' })).status).toBe(201);
    });
  });

  test('in the query it opens nothing, and at / becomes a cookie that no script sees', async () => {
    await withHost({}, async (host) => {
      expect((await host.ask('GET', `/api/sessions?token=${TOKEN}`, {})).status).toBe(401);
      const response = await host.raw('GET', `/?token=${TOKEN}`);
      expect([response.status, response.headers.get('location')]).toEqual([303, '/']);
      expect(response.headers.get('set-cookie')).toBe(
        `${COOKIE}; Path=/; HttpOnly; SameSite=Strict`,
      );
      checkHead(response, await response.text());
    });
  });

  test('the page is locked without it, and holds neither script nor style', async () => {
    await withHost({}, async (host) => {
      for (const path of ['/', '/?token=wrong', '/?token=']) {
        const locked = await host.raw('GET', path);
        expect([locked.status, locked.headers.get('set-cookie')]).toEqual([401, null]);
        checkHead(locked, await locked.text());
      }
      const page = await host.raw('GET', '/', { headers: { cookie: COOKIE } });
      const text = await page.text();
      expect(page.status).toBe(200);
      expect(page.headers.get('content-type')).toContain('text/html');
      expect(text).toContain('not built yet');
      expect(text).not.toMatch(/<script|<style|style=|onclick/);
      checkHead(page, text);
    });
  });

  test('it is in no refusal, even when a caller wrote it there', async () => {
    const token = 'sixteen-letters-';
    await withHost({ token }, async (host) => {
      const headers = { authorization: `Bearer ${token}`, ...JSON_TYPE };
      const body = JSON.stringify({ [token]: token, text: [token] });
      const reply = await host.ask('POST', '/api/sessions', { headers, body });
      expect(reply.status).toBe(400);
      expect(JSON.stringify(reply.body)).not.toContain(token);
    });
  });

  test('cookies of several hosts on one machine stand beside each other', async () => {
    const other = 'another-token-of-another-host';
    const cookie = `${cookieName(other)}=${other}; ${COOKIE}`;
    for (const token of [TOKEN, other]) {
      await withHost({ token }, async (host) => {
        expect((await host.ask('GET', '/api/sessions', { headers: { cookie } })).status).toBe(200);
        const document = await host.ask('GET', '/api/openapi.json', { headers: { cookie } });
        const schemes = { cookie: { in: 'cookie', name: cookieName(token) } };
        expect(document.body['components']).toMatchObject({ securitySchemes: schemes });
      });
    }
  });

  test.each([0, 10, 24, 30, 36])(
    'no part of it is in a refusal that cuts the name of a field (%d before it)',
    async (before) => {
      await withHost({}, async (host) => {
        const name = `${'x'.repeat(before)}${TOKEN}`;
        const reply = await host.post('/api/sessions', { [name]: 1 });
        expect([reply.status, errorOf(reply)['code']]).toEqual([400, 'invalid']);
        expect(JSON.stringify(reply.body)).not.toContain(TOKEN.slice(0, 2));
      });
    },
  );

  test('a cut text is without the start of it, and other words stay', () => {
    const token = new AccessToken('celestea-is-secret');
    expect(token.redact('a celestea-is-secret, b')).toBe('a (token), b');
    expect(token.redact('a celestea-is-se… b celestea… c')).toBe('a (token)… b (token)… c');
    expect(token.redact('celestea check')).toBe('celestea check');
    expect(token.redact('at the end celestea-is-secre')).toBe('at the end (token)');
    expect(token.redact('celeste…')).toBe('celeste…');
  });

  test('a host makes a token of its own, another each time', async () => {
    await withHost({ token: undefined }, async (one) => {
      await withHost({ token: undefined }, (two) => {
        expect(one.host.token).toMatch(/^[\w-]{43}$/);
        expect(one.host.token).not.toBe(two.host.token);
        return Promise.resolve();
      });
    });
  });
});
