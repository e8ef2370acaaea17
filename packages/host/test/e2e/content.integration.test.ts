import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

import { callTools, done, Gate, say, think, type Script } from '@celestea/agent-loop/testing';
import { expect } from 'vitest';

import type { TestHost } from '../http-support.ts';
import { fileText, turnRows } from '../sessions-support.ts';
import { seriousFindings, sideways } from './support/axe.ts';
import { inChromium, type Chromium } from './support/chromium-tests.ts';
import { button, callIs, ended, message, replies, said, send } from './support/on-page.ts';
import { call, cost, inPieces, piece } from './support/replies.ts';
import {
  fromEnd,
  HeldPages,
  scrollToFirst,
  scrollUp,
  settledPlace,
  topOnceGrown,
} from './support/scrolling.ts';
import type { Tabs } from './support/tabs.ts';
import { toolSet } from './support/tool-set.ts';

const browserTest = inChromium();

browserTest('two thousand rows open at the newest and are read to the first', async ({ serve }) => {
  const numbers = Array.from({ length: 500 }, (_, number) => number);
  const inputs = numbers.map((number) => `question ${String(number)}`);
  const answers = numbers.map((number) => `answer ${String(number)}`);
  /** Of very different heights. */
  const reply = (number: number): string =>
    [answers[number], ...Array<string>(number % 13).fill('More of it.')].join('\n\n');
  const rows = numbers.flatMap((number) => turnRows(number, inputs[number] ?? '', reply(number)));
  await serve({}, async ({ host, tabs }) => {
    const id = await host.session();
    appendFileSync(join(host.folder, `${id}.jsonl`), fileText(rows));
    const page = await tabs.open();
    const pages = new HeldPages();
    await pages.hold(page);
    await tabs.show(page, id);
    await page.getByText('answer 499', { exact: true }).waitFor();
    await settledPlace(page);
    expect(await fromEnd(page)).toBeLessThanOrEqual(1);

    for (let count = 1; count <= 4; count += 1) {
      await scrollUp(page);
      const older = await pages.next();
      const { turn, top } = await settledPlace(page);
      const before = await page.locator('[data-turn]').count();
      await older.continue();
      const moved = (await topOnceGrown(page, turn, before)) - top;
      expect(Math.abs(moved), `pixels that ${turn} moved`).toBeLessThanOrEqual(1);
    }
    await pages.free();
    await scrollToFirst(page);
    await page.locator('.user-text').getByText('question 0', { exact: true }).waitFor();
    expect(await said(page)).toEqual(inputs);
    expect((await replies(page)).map((text) => text.split('\n', 1)[0])).toEqual(answers);
    const ids = await page.evaluate<string[]>(
      `[...document.querySelectorAll('[data-turn]')].map(({ dataset }) => dataset.turn)`,
    );
    expect(ids).toEqual(numbers.map((number) => `turn-${String(number)}`));
    // not by its name: for that the names of all others would be looked at
    await page.locator('.to-bottom').click();
    await page.getByText('answer 499', { exact: true }).waitFor();
    await settledPlace(page);
    expect(await fromEnd(page)).toBeLessThanOrEqual(1);
  });
});

const RICH = [
  '# Findings',
  'Some *words*, a [link](https://example.com/a) and `code` in a line.',
  '| file | size | why |\n|---|---:|---|\n| `src/a-long-name-of-a-file.ts` | 12 | it is long |',
  '```ts\nconst aLineLongerThanAnyNarrowScreenIsWide = await readAllOfIt(options, signal);\n```',
  `> ${'unbroken'.repeat(30)}`,
  '- one\n- two\n  1. three',
].join('\n\n');

/** Turns of every end, with much to show, and one that goes on. */
function richTurns(gate: Gate): Pick<Parameters<Chromium['serve']>[0], 'scripts' | 'tools'> {
  const fail = (): never => {
    throw new Error(`the provider is down ${'x'.repeat(200)}`);
  };
  const long = { path: `src/${'deep/'.repeat(40)}file.ts`, text: 'line\n'.repeat(40) };
  const scripts: Script[] = [
    [
      think('I look.'),
      piece('Looking.'),
      done('Looking.', call('a', 'look', long), call('b', 'break')),
    ],
    [cost(1200, 340), piece(RICH), done(RICH)],
    callTools(call('c', 'write', long)),
    [piece('I beg'), fail],
    [piece('And th')],
    ...Array.from({ length: 16 }, (_, step) => callTools(call(`s${String(step)}`, 'look'))),
    callTools(call('d', 'hang'), call('e', 'write', long)),
  ];
  const fault = (): never => {
    throw new Error('no such file');
  };
  const tools = toolSet(
    { look: () => long, break: fault, write: () => 'written', hang: () => gate.wait() },
    ['write'],
  );
  return { scripts, tools };
}

const SCREENS = [
  { where: 'on a wide screen', viewport: { width: 1280, height: 800 }, isNarrow: false },
  { where: 'on a narrow screen', viewport: { width: 360, height: 740 }, isNarrow: true },
];

for (const { where, viewport, isNarrow } of SCREENS) {
  browserTest(`${where} nobody is kept out and nothing is cut off`, async ({ serve }) => {
    const gate = new Gate();
    await serve(richTurns(gate), ({ host, tabs }) => lookThrough(host, tabs, viewport, isNarrow));
    gate.open();
  });
}

async function lookThrough(
  host: TestHost,
  tabs: Tabs,
  viewport: { readonly width: number; readonly height: number },
  isNarrow: boolean,
): Promise<void> {
  const id = await host.session();
  const page = await tabs.open(id, { viewport, reducedMotion: 'reduce' });
  const check = async (when: string, reached: Promise<unknown>): Promise<void> => {
    await reached;
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await seriousFindings(page), `${when}, ${colorScheme}`).toEqual([]);
    }
    expect(await sideways(page), when).toEqual([]);
  };
  const path = `/api/sessions/${id}`;
  await host.turn(id, 'Look.');
  await check('completed', ended(page, 'completed'));
  await host.turn(id, 'Write.');
  await check('with an approval', callIs(page, 'c', 'waiting'));
  await host.post(`${path}/cancel`, { reason: 'enough' });
  await check('cancelled', ended(page, 'cancelled'));
  await host.turn(id, 'Fail.');
  await check('error', ended(page, 'error'));
  await host.turn(id, 'Break off.');
  await check('interrupted', ended(page, 'interrupted'));
  await host.turn(id, `Go on, ${'and on'.repeat(60)}.`);
  await check('step_limit', ended(page, 'step_limit'));

  await host.turn(id, 'Hang.');
  await host.post(`${path}/steer`, { input: 'a line that waits' });
  await callIs(page, 'e', 'waiting');
  await page.getByText('a line that waits').waitFor();
  for (const summary of await page.locator('summary').all()) await summary.click();
  const timeline = page.getByRole('group', { name: 'Timeline of the turn' }).first();
  await check('all open', timeline.waitFor());
  await button(page, 'Next request').click();
  const request = page.getByRole('dialog', { name: 'Next request' });
  await check('the next request', request.getByRole('table').waitFor());
  await button(page, 'Close').click();
  await button(page, 'Keyboard shortcuts').click();
  const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await check('the shortcuts', shortcuts.waitFor());
  await button(page, 'Close').click();
  if (!isNarrow) return;
  await button(page, 'Show the sessions').click();
  await check('the sessions', button(page, 'Close the sessions').waitFor());
}

/** Each would show that it came alive: by a dialog, a request, or an element of its own. */
const HOSTILE = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)><img src="https://evil.example/a.png">',
  '<svg onload=alert(1)><a xlink:href="javascript:alert(1)">x</a></svg>',
  '<style>@import "https://evil.example/a.css"; * { display: none }</style>',
  '<iframe src="https://evil.example/" srcdoc="<script>alert(1)</script>"></iframe>',
  '<form action="https://evil.example/"><button>ok</button><input name=a></form>',
  '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table>',
  '[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,<script>x</script>)',
  '[d](vbscript:x) <javascript:alert(1)> ![p](javascript:alert(1)) ![q](https://evil.example/q)',
  '[e](https://ok.example/ "x\\" onmouseover=alert(1) y=\\"") <https://ok.example/"onclick=x>',
  '[f][r]\n\n[r]: javascript:alert(1)',
  '```"><img/src=x/onerror=alert(1)>\n</code></pre><script>alert(1)</script>\n```',
  '| <img src=x onerror=alert(1)> |\n|---|\n| `</td><script>alert(1)</script>` |',
  'line\u2028paragraph\u2029nul\u0000bidi\u202eevil\u202c\u2066x\u2069 lone \ud800 end',
].join('\n\n');

browserTest('hostile texts are shown and do nothing', async ({ serve }) => {
  const inTitle = `"><img src=x onerror=alert(1)> \u202eevil\u2028 \u0000 ${HOSTILE}`;
  const name = '"><img/src=x/onerror=alert(1)>';
  const args = { [HOSTILE]: HOSTILE, __proto__: { a: HOSTILE } };
  const parts = HOSTILE.match(/[^]{1,7}/g) ?? [];
  const fail = (): never => {
    throw new Error(HOSTILE);
  };
  const scripts: Script[] = [
    [
      think(HOSTILE),
      ...callTools(call('a', name, args), call('b', 'look', args), call('c', 'break')),
    ],
    callTools(call('d', 'write', args)),
    inPieces(...parts.map(piece)),
    [piece(HOSTILE), fail],
  ];
  const results = { stdout: HOSTILE, stderr: HOSTILE, exit_code: HOSTILE, text: HOSTILE };
  const acts = { look: () => results, break: fail, write: () => [HOSTILE] };
  const tools = toolSet(acts, ['write'], HOSTILE);
  await serve({ scripts, tools }, async ({ host, tabs }) => {
    const id = await host.session();
    const page = await tabs.open(id);
    await host.turn(id, inTitle);
    await callIs(page, 'd', 'waiting');
    await host.post(`/api/sessions/${id}/steer`, { input: HOSTILE });
    await button(page, 'Show').click();
    await button(page, 'Deny').click();
    await ended(page, 'completed');
    await callIs(page, 'b', 'done');
    await callIs(page, 'c', 'failed');
    await send(page, HOSTILE);
    await ended(page, 'error');
    for (const reload of [false, true]) {
      if (reload) {
        await page.reload();
        await ended(page, 'error');
      }
      for (const summary of await page.locator('summary').all()) await summary.click();
      const listed = page.locator('[data-session]').first();
      await listed.getByText('"><img src=x onerror=alert(1)>').waitFor();
      expect(await page.title()).toContain('<img');
      const alive = 'script, img, style, iframe, form, input, svg, math, [style], [onerror]';
      expect(await page.locator('.content .markdown').locator(alive).count()).toBe(0);
      const links = await page.evaluate<string[]>(
        `[...document.querySelectorAll('.content a[href]')].map(({ protocol, rel, target }) =>
          [protocol, rel, target].join(' '))`,
      );
      expect(links.length).toBeGreaterThan(0);
      expect(new Set(links)).toEqual(new Set(['https: noopener noreferrer _blank']));
      const inWords = await page.locator('.reply .markdown').first().textContent();
      expect(inWords).toContain('<script>alert(1)</script>');
      await button(page, 'Next request').click();
      await page.getByRole('dialog').getByRole('table').waitFor();
      for (const summary of await page.getByRole('dialog').locator('summary').all()) {
        await summary.click();
      }
      await button(page, 'Close').click();
    }
    expect(await message(page).inputValue()).toBe('');
  });
});

browserTest('an approval shows what hides, and no key allows what is cut', async ({ serve }) => {
  const scripts = [
    callTools(call('a', 'write', { command: 'ls #\u202e ohce ;\u2066x\u200b\u{e0041}' })),
    callTools(call('b', 'write', { command: 'word '.repeat(3000) })),
    [piece('Done.'), done('Done.')],
  ];
  const tools = toolSet({ write: () => 'written' }, ['write'], 'it \u202e writes');
  await serve({ scripts, tools }, async ({ tabs }) => {
    const page = await tabs.open();
    await send(page, 'Write \u202e it.');
    await callIs(page, 'a', 'waiting');
    const shown = (await page.locator('body').textContent()) ?? '';
    expect(shown).not.toMatch(/[\u202e\u2066\u200b\u{e0041}]/u);
    for (const text of ['"ls #\\u202e ohce ;\\u2066x\\u200b\\u{e0041}"', 'it \\u202e writes']) {
      expect(shown).toContain(text);
    }
    expect(await seriousFindings(page)).toEqual([]);
    await button(page, 'Show').click();
    await page.keyboard.press('a');
    await callIs(page, 'b', 'waiting');
    expect(await seriousFindings(page)).toEqual([]);
    await button(page, 'Show').click();
    await page.keyboard.press('a');
    await page.locator('.approval-unseen:focus').getByText('6,000 of 15,019').waitFor();
    await callIs(page, 'b', 'waiting');
    await button(page, 'Show all arguments').click();
    await page.locator('.approval-unseen').waitFor({ state: 'detached' });
    await page.keyboard.press('a');
    await callIs(page, 'b', 'done');
    await ended(page, 'completed');
  });
});

browserTest('texts and values that are hard to read stop nothing', async ({ serve }) => {
  const hard = [
    `${'a.'.repeat(10_000)}@`,
    '['.repeat(20_000),
    '!['.repeat(10_000),
  ];
  const tooDeep = `${'>'.repeat(20_000)}a`;
  const text = ['**first**', ...hard, '**last**'].join('\n\n');
  const levels = 4000;
  const deep: unknown = JSON.parse(`${'{"a":['.repeat(levels)}1${']}'.repeat(levels)}`);
  const parts = text.match(/[^]{1,500}/g) ?? [];
  const scripts = [callTools(call('a', 'look')), inPieces(...parts.map(piece)), say(tooDeep)];
  await serve({ scripts, tools: toolSet({ look: () => deep }) }, async ({ tabs }) => {
    const page = await tabs.open();
    await send(page, 'Look.');
    await ended(page, 'completed');
    await send(page, 'Deeper.');
    await ended(page, 'completed', 2);
    for (const reload of [false, true]) {
      if (reload) await page.reload();
      await ended(page, 'completed', 2);
      for (const summary of await page.locator('summary').all()) await summary.click();
      expect(await page.locator('.markdown strong').allTextContents()).toEqual(['first', 'last']);
      expect(await page.locator('.markdown pre.plain').count()).toBe(1);
      expect(await page.locator('.broken').count()).toBe(0);
      expect(await page.locator('[data-call="a"]').count()).toBe(1);
    }
  });
});
