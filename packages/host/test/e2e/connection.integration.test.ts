import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { callTools, Gate, say, think } from '@celestea/agent-loop/testing';
import { expect } from 'vitest';

import { TOKEN } from '../http-support.ts';
import { inChromium } from './support/chromium-tests.ts';
import { startHostProcess, type KillableHost, type Life } from './support/killable-host.ts';
import {
  button,
  callIs,
  ended,
  message,
  replied,
  replies,
  said,
  send,
  sessionOf,
  steer,
  titleSaysRunning,
  written,
} from './support/on-page.ts';
import { call, inPieces, piece } from './support/replies.ts';
import { connected, Tabs } from './support/tabs.ts';
import { toolSet } from './support/tool-set.ts';

const browserTest = inChromium();

browserTest('a reload in the middle of a reply loses and repeats nothing', async ({ serve }) => {
  const [first, second] = [new Gate(), new Gate()];
  const reply = inPieces(
    think('I count. '),
    piece('one '),
    () => first.wait(),
    piece('two '),
    () => second.wait(),
    piece('three'),
  );
  await serve({ scripts: [reply] }, async ({ tabs }) => {
    const page = await tabs.open();
    await send(page, 'Count.');
    await replied(page, 'one');
    await page.reload();
    await replied(page, 'one');
    expect(await said(page)).toEqual(['Count.']);
    first.open();
    await replied(page, 'one two');
    await page.reload();
    second.open();
    await ended(page, 'completed');
    expect(await replies(page)).toEqual(['one two three']);
    expect(await page.locator('.reasoning-text').allTextContents()).toEqual(['I count. ']);
    await page.reload();
    await ended(page, 'completed');
    expect(await replies(page)).toEqual(['one two three']);
    expect(await said(page)).toEqual(['Count.']);
  });
});

browserTest('a reload while tools run and wait shows them as they are', async ({ serve }) => {
  const gate = new Gate();
  const scripts = [callTools(call('a', 'look'), call('b', 'write')), say('Written.')];
  const tools = toolSet({ look: () => gate.wait(), write: () => 'written' }, ['write']);
  await serve({ scripts, tools }, async ({ tabs }) => {
    const page = await tabs.open();
    await send(page, 'Write.');
    await callIs(page, 'b', 'waiting');
    await page.reload();
    await callIs(page, 'a', 'running');
    await callIs(page, 'b', 'waiting');
    await button(page, 'Allow').click();
    await callIs(page, 'b', 'running');
    await page.reload();
    await callIs(page, 'b', 'running');
    expect(await page.locator('[data-approval]').count()).toBe(0);
    gate.open();
    await ended(page, 'completed');
    await callIs(page, 'a', 'done');
    await callIs(page, 'b', 'done');
    expect(await page.locator('[data-call]').count()).toBe(2);
  });
});

browserTest('two tabs show the same, and answer for each other', async ({ serve }) => {
  const gate = new Gate();
  const scripts = [
    [...callTools(call('a', 'write'))],
    inPieces(piece('It is '), () => gate.wait(), piece('written.')),
    say('Yes.'),
  ];
  const tools = toolSet({ write: () => 'written' }, ['write']);
  await serve({ scripts, tools }, async ({ tabs }) => {
    const one = await tabs.open();
    await send(one, 'Write.');
    await callIs(one, 'a', 'waiting');
    const two = await tabs.another(one, sessionOf(one));
    await callIs(two, 'a', 'waiting');
    await button(two, 'Allow').click();
    await button(one, 'Allow').waitFor({ state: 'detached' });
    await one.locator('.approval-notice').waitFor({ state: 'detached' });
    for (const page of [one, two]) await replied(page, 'It is');
    gate.open();
    for (const page of [one, two]) await ended(page, 'completed');
    await send(two, 'Is it?');
    for (const page of [one, two]) {
      await ended(page, 'completed', 2);
      expect(await said(page)).toEqual(['Write.', 'Is it?']);
      expect(await replies(page)).toEqual(['It is written.', 'Yes.']);
      await callIs(page, 'a', 'done');
    }
  });
});

browserTest('without the right token nothing is shown', async ({ serve }) => {
  await serve({}, async ({ host, tabs }) => {
    const page = await tabs.blank();
    const url = `http://127.0.0.1:${String(host.port)}`;
    for (const query of ['', '/?token=another-token-that-is-wrong-0123456789']) {
      const response = await page.goto(url + query);
      expect(response?.status()).toBe(401);
      await page.getByText('Open the address that the host gave you').waitFor();
      expect(await page.getByRole('navigation').count()).toBe(0);
    }
  });
});

browserTest('who loses the cookie is told to open the address again', async ({ serve }) => {
  const scripts = [say('Yes.')];
  await serve({ scripts }, async ({ tabs }) => {
    const page = await tabs.open();
    await send(page, 'Yes?');
    await ended(page, 'completed');
    const session = sessionOf(page);
    const cookies = await page.context().cookies();
    await page.context().clearCookies();
    await send(page, 'Still?');
    const alert = page.getByRole('alert');
    await alert.getByText('open the address the host printed').waitFor();
    expect(await message(page).inputValue(), 'what was written is kept').toBe('Still?');
    await page.goto(`${new URL(page.url()).origin}/#none`);
    await page.getByRole('status').getByText('open the address the host printed').waitFor();
    await page.context().addCookies(cookies);
    await button(page, 'Try again').click();
    await page.getByRole('status').getByText('There is no such session.').waitFor();
    await tabs.show(page, session);
    expect(await replies(page)).toEqual(['Yes.']);
  });
});

browserTest('a host that is killed and comes back is followed again', async (chromium) => {
  const folder = mkdtempSync(join(tmpdir(), 'celestea-killed-'));
  const life: Omit<Life, 'port' | 'replies'> = { folder, token: TOKEN, page: chromium.page };
  let host: KillableHost | null = null;
  try {
    const replies = [
      { text: 'Before.', hangs: false },
      { text: 'I beg', hangs: true },
    ];
    host = await startHostProcess({ ...life, port: 0, replies });
    const url = `http://127.0.0.1:${String(host.port)}`;
    const tabs = new Tabs(chromium.browser, url, TOKEN);
    try {
      const page = await tabs.open();
      await send(page, 'Before?');
      await ended(page, 'completed');
      await send(page, 'Go on.');
      await replied(page, 'I beg');
      await host.kill();
      await page.getByRole('status').getByText('Connection lost, trying again…').waitFor();
      await message(page).fill('written meanwhile');

      const { port } = host;
      const again = [{ text: 'After.', hangs: false }];
      host = await startHostProcess({ ...life, port, replies: again });
      await connected(page);
      await ended(page, 'interrupted');
      await titleSaysRunning(page, false);
      expect(await message(page).inputValue()).toBe('written meanwhile');
      await send(page, 'After?');
      await ended(page, 'completed', 2);
      await replied(page, 'After.');
      expect(await said(page)).toEqual(['Before?', 'Go on.', 'After?']);
      tabs.check();
    } finally {
      await tabs.close();
    }
  } finally {
    await host?.kill();
    rmSync(folder, { recursive: true, force: true });
  }
});

browserTest('of seven tabs each can allow and stop', async ({ serve }) => {
  const gate = new Gate();
  const ends = [0, 1];
  const scripts = ends.flatMap((end) => [
    callTools(call(`w${String(end)}`, 'write')),
    callTools(call(`h${String(end)}`, 'hang')),
  ]);
  const tools = toolSet({ write: () => 'written', hang: () => gate.wait() }, ['write']);
  await serve({ scripts, tools }, async ({ host, tabs }) => {
    const id = await host.session();
    const first = await tabs.open(id);
    const pages = [first];
    for (let count = 2; count <= 7; count += 1) {
      const page = await first.context().newPage();
      await page.goto(`${new URL(first.url()).origin}/#${id}`);
      await page.getByRole('status').getByText(/^(Connected|Watching by polling)/).waitFor();
      pages.push(page);
    }
    const polling = pages.at(-1) ?? first;
    await polling.getByRole('status').getByText('Watching by polling').waitFor();
    for (const end of ends) {
      const page = end === 0 ? first : polling;
      await send(page, `Write ${String(end)}.`);
      await callIs(page, `w${String(end)}`, 'waiting');
      await button(page, 'Allow').click();
      for (const each of pages) await callIs(each, `w${String(end)}`, 'done');
      await steer(page, 'too late');
      await page.locator('.waiting-lines li').waitFor();
      await button(page, 'Stop').click();
      for (const each of pages) await ended(each, 'cancelled', end + 1);
      await written(page, 'too late');
      for (const each of pages) {
        if (each !== page) expect(await message(each).inputValue()).toBe('');
      }
      await message(page).fill('');
    }
    gate.open();
  });
});
