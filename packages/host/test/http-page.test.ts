import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { pageFolderFor } from '../src/http/page-folder.ts';
import { createHost, type HostOptions } from '../src/index.ts';
import {
  BEARER,
  checkHead,
  COOKIE,
  withHost,
  withServer,
  type TestHost,
} from './http-support.ts';
import { testFolder } from './sessions-support.ts';

const INDEX = '<!doctype html><title>page</title>';
const FOR_GOOD = 'private, max-age=31536000, immutable';

/** What is in assets, and its types; each holds its name. */
const ASSETS = [
  ['main-1a.js', 'text/javascript; charset=utf-8'],
  ['main-1a.css', 'text/css; charset=utf-8'],
  ['a.svg', 'image/svg+xml'],
  ['a.woff2', 'font/woff2'],
  ['a.json', 'application/json'],
  ['a.js.map', 'application/json'],
  ['a.png', 'image/png'],
  ['a.ico', 'image/x-icon'],
  ['a.unknown', 'application/octet-stream'],
] as const;

/** A built page, with a secret beside it that no request may come to. */
function builtPage(): string {
  const folder = testFolder();
  const page = join(folder, 'page');
  mkdirSync(join(page, 'assets', 'deep'), { recursive: true });
  writeFileSync(join(folder, 'secret.txt'), 'the secret');
  writeFileSync(join(page, 'secret.txt'), 'the secret');
  writeFileSync(join(page, 'assets', 'deep', 'secret.js'), 'the secret');
  writeFileSync(join(page, 'index.html'), INDEX);
  writeFileSync(join(page, 'favicon.svg'), '<svg/>');
  symlinkSync(join(folder, 'secret.txt'), join(page, 'assets', 'link.js'));
  for (const [name] of ASSETS) writeFileSync(join(page, 'assets', name), name);
  return page;
}

const withPage = (work: (host: TestHost, page: string) => Promise<void>): Promise<void> => {
  const page = builtPage();
  return withHost({ page }, (host) => work(host, page));
};

describe('a built page', () => {
  test('stands at / for who has the token, and is locked for others', async () => {
    await withPage(async (host) => {
      const open = await host.raw('GET', '/', { headers: { cookie: COOKIE } });
      const text = await open.text();
      expect([open.status, text]).toEqual([200, INDEX]);
      expect(open.headers.get('content-type')).toBe('text/html; charset=utf-8');
      checkHead(open, text);
      const locked = await host.raw('GET', '/');
      expect(locked.status).toBe(401);
      expect(await locked.text()).not.toContain(INDEX);
    });
  });

  test.each(ASSETS)('has %s as %s, to be kept for good', async (name, type) => {
    await withPage(async (host) => {
      const path = `/assets/${name}`;
      const full = await host.raw('GET', path, { headers: BEARER });
      const text = await full.text();
      expect([full.status, full.headers.get('content-type'), text]).toEqual([200, type, name]);
      checkHead(full, text, FOR_GOOD);
      const head = await host.raw('HEAD', path, { headers: BEARER });
      expect([head.status, await head.text()]).toEqual([200, '']);
    });
  });

  test('has its icon when there is one', async () => {
    await withPage(async (host) => {
      const icon = await host.raw('GET', '/favicon.svg', { headers: BEARER });
      const text = await icon.text();
      expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
      checkHead(icon, text);
    });
    await withHost({}, async (host) => {
      expect((await host.get('/favicon.svg')).status).toBe(404);
    });
  });

  test('is read once: what becomes of the folder changes nothing', async () => {
    await withPage(async (host, page) => {
      rmSync(page, { recursive: true });
      const asset = await host.raw('GET', '/assets/main-1a.js', { headers: BEARER });
      expect([asset.status, await asset.text()]).toEqual([200, 'main-1a.js']);
      mkdirSync(join(page, 'assets'), { recursive: true });
      writeFileSync(join(page, 'assets', 'later.js'), 'later');
      expect((await host.get('/assets/later.js')).status).toBe(404);
    });
  });

  test('asks for the token with every file, and takes no other method', async () => {
    await withPage(async (host) => {
      for (const path of ['/assets/main-1a.js', '/assets/none.js', '/favicon.svg']) {
        expect((await host.ask('GET', path, {})).status).toBe(401);
        const site = { ...BEARER, 'sec-fetch-site': 'cross-site' };
        expect((await host.ask('GET', path, { headers: site })).status).toBe(403);
        const post = await host.post(path);
        expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
      }
      const cookie = { cookie: COOKIE };
      const asset = await host.raw('GET', '/assets/main-1a.js', { headers: cookie });
      expect(asset.status).toBe(200);
    });
  });
});

describe('what is no file of the page', () => {
  const paths = [
    '/assets/..%2fsecret.txt',
    '/assets/..%2f..%2fsecret.txt',
    '/assets/%2e%2e/secret.txt',
    '/assets/%2e%2e%2f%2e%2e%2fsecret.txt',
    '/assets/..%5csecret.txt',
    '/assets/..%5c..%5csecret.txt',
    '/assets/..\\..\\secret.txt',
    '/assets/../secret.txt',
    '/assets/../../secret.txt',
    '/assets/%252e%252e%252fsecret.txt',
    '/assets/main-1a.js%00',
    '/assets/%00../secret.txt',
    '/assets//main-1a.js',
    '/assets/./../secret.txt',
    '/assets/deep/secret.js',
    '/assets/deep%2fsecret.js',
    '/assets/deep',
    '/assets/link.js',
    '/assets/',
    '/assets',
    '/assets/%E0%A4%A',
    '/assets/MAIN-1A.JS',
    '/assets/__proto__',
    '/assets/constructor',
    '/index.html',
    '/secret.txt',
    '//secret.txt',
    '/page/index.html',
  ];

  test.each(paths)('%s is not there', async (path) => {
    await withPage(async (host) => {
      const reply = await host.get(path);
      expect(reply.status).toBe(404);
      expect(JSON.stringify(reply.body)).not.toContain('the secret');
    });
  });

  test('is not there over a socket, where a path comes as it was written', async () => {
    await withServer({ page: builtPage() }, async ({ address }) => {
      for (const path of paths) {
        const answered = await new Promise<{ status: number; text: string }>((resolve, reject) => {
          const headers = { ...BEARER, connection: 'close' };
          const sent = request({ port: address.port, path, headers }, (response) => {
            let text = '';
            response.on('data', (chunk) => (text += String(chunk)));
            response.on('end', () => {
              resolve({ status: response.statusCode ?? 0, text });
            });
          });
          sent.on('error', reject).end();
        });
        expect([400, 404], path).toContain(answered.status);
        expect(answered.text).not.toContain('the secret');
      }
    });
  });
});

describe('the folder of the page', () => {
  const parts = { llm: { generate: () => 0 }, tools: () => 0, config: {} };
  const good = { folder: 'sessions', parts };

  test.each([
    ['is not there', () => join(testFolder(), 'none')],
    ['has no index.html', testFolder],
    ['is empty text', () => ''],
    ['is no text', () => 3],
  ])('is a TypeError that names the option when it %s', (_, page) => {
    const make = (): unknown => createHost({ ...good, page: page() } as unknown as HostOptions);
    expect(make).toThrow(TypeError);
    expect(make).toThrow('options.page: expected a folder with an index.html');
  });

  test('may lack all but its index.html', async () => {
    const page = testFolder();
    writeFileSync(join(page, 'index.html'), INDEX);
    await withHost({ page }, async (host) => {
      expect(await (await host.raw('GET', '/', { headers: BEARER })).text()).toBe(INDEX);
      expect((await host.get('/assets/main-1a.js')).status).toBe(404);
    });
  });

  test('is, unless given, the one that is built with the code', () => {
    expect(pageFolderFor('/a/host/src/http')).toBe('/a/host/dist/page');
    expect(pageFolderFor('/a/host/dist')).toBe('/a/host/dist/page');
  });
});
