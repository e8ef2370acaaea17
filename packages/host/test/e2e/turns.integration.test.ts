import { callTools, done, Gate, say, ScriptedLlm, think } from '@celestea/agent-loop/testing';
import { expect } from 'vitest';

import { inChromium } from './support/chromium-tests.ts';
import {
  button,
  callIs,
  card,
  ended,
  message,
  otherSession,
  replied,
  replies,
  said,
  send,
  sessionOf,
  steer,
  titleSaysRunning,
  written,
} from './support/on-page.ts';
import { call, cost, inPieces, piece } from './support/replies.ts';
import { connected } from './support/tabs.ts';
import { toolSet } from './support/tool-set.ts';

const browserTest = inChromium();

browserTest('a turn with parallel tools and an approval is shown as it goes', async ({ serve }) => {
  const gates = { a: new Gate(), b: new Gate(), c: new Gate() };
  const tools = toolSet(
    {
      look: ({ at }) => gates[at === 'a' ? 'a' : 'b'].wait().then(() => `seen ${String(at)}`),
      write: () => gates.c.wait().then(() => 'written'),
    },
    ['write'],
  );
  const looks = [call('a', 'look', { at: 'a' }), call('b', 'look', { at: 'b' })];
  const scripts = [
    [
      think('Both at once.'),
      piece('I look.'),
      cost(100, 20),
      done('I look.', ...looks, call('c', 'write')),
    ],
    [piece('All is '), cost(200, 30), piece('done.'), done('All is done.')],
  ];
  await serve({ scripts, tools }, async ({ tabs }) => {
    const page = await tabs.open();
    await send(page, 'Look and write.');
    await callIs(page, 'a', 'running');
    await callIs(page, 'b', 'running');
    await callIs(page, 'c', 'waiting');
    await titleSaysRunning(page, true);
    await page.getByText('Both at once.').waitFor({ state: 'attached' });

    await button(page, 'Allow').click();
    await callIs(page, 'c', 'running');
    await button(page, 'Allow').waitFor({ state: 'detached' });
    await callIs(page, 'a', 'running');
    for (const gate of Object.values(gates)) gate.open();
    expect(await ended(page, 'completed')).toBe('completed');
    for (const id of ['a', 'b', 'c']) await callIs(page, id, 'done');
    expect(await replies(page)).toEqual(['I look.', 'All is done.']);
    await card(page, 'a').getByText('Result', { exact: true }).click();
    const result = card(page, 'a').getByRole('group', { name: 'Result of look' });
    await result.getByText('seen a').waitFor();

    await page.getByText('2 steps', { exact: false }).first().waitFor();
    await page.getByText('350 tokens (300 in, 50 out)').waitFor();
    await page.getByText('Used so far: 350 tokens').waitFor();
    await page.getByRole('meter', { name: 'Context used' }).waitFor();
    await page.getByText('Timeline of 2 steps').click();
    const timeline = page.getByRole('group', { name: 'Timeline of the turn' });
    await timeline.waitFor();
    expect(await timeline.getByRole('img', { name: /: (look|write) ran, / }).count()).toBe(3);
    await titleSaysRunning(page, false);
  });
});

browserTest('a denied call says so, and the model is told the reason', async ({ serve }) => {
  const llm = new ScriptedLlm([callTools(call('a', 'write')), say('Then not.')]);
  let isWritten = false;
  const tools = toolSet({ write: () => (isWritten = true) }, ['write']);
  await serve({ llm, tools }, async ({ tabs }) => {
    const page = await tabs.open();
    await send(page, 'Write.');
    await page.getByLabel('Reason to deny (optional)').fill('not on a Friday');
    await button(page, 'Deny').click();
    await callIs(page, 'a', 'denied');
    await card(page, 'a').getByText('denied: not on a Friday').waitFor();
    await ended(page, 'completed');
    expect(JSON.stringify(llm.requests.at(-1)?.messages)).toContain('not on a Friday');
    expect(isWritten).toBe(false);
    await page.reload();
    await callIs(page, 'a', 'denied');
  });
});

browserTest('a turn stops though a tool ignores its signal', async ({ serve }) => {
  const gate = new Gate();
  const scripts = [callTools(call('a', 'hang')), say('Here I am.')];
  const tools = toolSet({ hang: () => gate.wait() });
  await serve({ scripts, tools }, async ({ tabs }) => {
    const page = await tabs.open();
    await send(page, 'Hang.');
    await callIs(page, 'a', 'running');
    await button(page, 'Stop').click();
    const words = 'cancelled: stopped by the user';
    expect(await ended(page, 'cancelled', 1, words)).toBe(words);
    await callIs(page, 'a', 'abandoned');
    await button(page, 'Stop').waitFor({ state: 'detached' });
    await send(page, 'And now?');
    await ended(page, 'completed');
    expect(await replies(page)).toEqual(['Here I am.']);
    gate.open();
  });
});

browserTest('steering waits, is taken, and comes back when no turn took it', async ({ serve }) => {
  const gates = [new Gate(), new Gate()];
  const llm = new ScriptedLlm([
    callTools(call('a', 'work')),
    say('With tests.'),
    callTools(call('b', 'work')),
  ]);
  const tools = toolSet({ work: () => gates.shift()?.wait() });
  const [first] = gates;
  await serve({ llm, tools }, async ({ tabs }) => {
    const page = await tabs.open();
    await send(page, 'Work.');
    await callIs(page, 'a', 'running');
    await steer(page, 'and the tests');
    const waiting = page.getByRole('form', { name: 'Write to the agent' }).getByRole('listitem');
    await waiting.waitFor();
    expect(await waiting.allTextContents()).toEqual(['and the tests']);
    await written(page, '');
    first?.open();
    await ended(page, 'completed');
    expect(await said(page)).toEqual(['Work.', 'and the tests']);
    expect(await waiting.count()).toBe(0);
    expect(JSON.stringify(llm.requests[1]?.messages)).toContain('and the tests');

    await send(page, 'Again.');
    await callIs(page, 'b', 'running');
    await steer(page, 'too late');
    await waiting.waitFor();
    await message(page).fill('half a thought');
    await button(page, 'Stop').click();
    await ended(page, 'cancelled');
    await waiting.waitFor({ state: 'detached' });
    await written(page, 'too late\nhalf a thought');
    expect(await said(page)).toEqual(['Work.', 'and the tests', 'Again.']);
  });
});

browserTest('the five ends of a turn are told apart by words', async ({ serve }) => {
  const steps = Array.from({ length: 16 }, (_, at) => callTools(call(`s${String(at)}`, 'work')));
  const fail = (): never => {
    throw new Error('the provider is down');
  };
  const scripts = [
    say('Yes.'),
    callTools(call('a', 'write')),
    [piece('I beg'), fail],
    [piece('And th')],
    ...steps,
  ];
  const tools = toolSet({ work: () => 'worked', write: () => 'written' }, ['write']);
  await serve({ scripts, tools }, async ({ tabs }) => {
    const page = await tabs.open();
    await send(page, 'One.');
    await ended(page, 'completed');
    await send(page, 'Two.');
    await callIs(page, 'a', 'waiting');
    await button(page, 'Stop').click();
    await ended(page, 'cancelled');
    await send(page, 'Three.');
    await ended(page, 'error');
    await page.getByText('stream: the provider is down').waitFor();
    await page.getByText('This reply broke off.').first().waitFor();
    await send(page, 'Four.');
    await ended(page, 'interrupted');
    await send(page, 'Five.');
    await ended(page, 'step_limit');
    const words = (): Promise<string[]> => page.locator('[data-outcome]').allTextContents();
    const shown = [
      'completed',
      'cancelled: stopped by the user',
      'failed',
      'interrupted before the reply was finished',
      'stopped at the step limit',
    ];
    expect(await words()).toEqual(shown);
    await page.reload();
    await ended(page, 'step_limit');
    expect(await words()).toEqual(shown.with(1, 'cancelled'));
  });
});

browserTest('a fork from a turn has the rows up to there', async ({ serve }) => {
  const scripts = [say('1st.'), say('2nd.'), say('3rd.'), say('Other 3rd.')];
  await serve({ scripts }, async ({ host, tabs }) => {
    const page = await tabs.open();
    for (const [index, words] of ['One?', 'Two?', 'Three?'].entries()) {
      await send(page, words);
      await ended(page, 'completed', index + 1);
    }
    const before = sessionOf(page);
    await button(page, 'Fork from here').nth(1).click();
    const fork = await otherSession(page, before);
    await ended(page, 'completed', 2);
    await page.locator('[data-turn]').nth(2).waitFor({ state: 'detached' });
    expect(await said(page)).toEqual(['One?', 'Two?']);
    const rows = async (id: string) =>
      (await host.get(`/api/sessions/${id}/messages`)).body['messages'] as unknown[];
    expect(await rows(fork)).toEqual((await rows(before)).slice(0, 6));
    await send(page, 'Other three?');
    await replied(page, 'Other 3rd.');
    await ended(page, 'completed', 3);
    expect(await rows(before)).toHaveLength(9);
  });
});

browserTest('the keyboard alone does all: begin, send, allow, stop', async ({ serve }) => {
  const gate = new Gate();
  const scripts = [
    callTools(call('a', 'write')),
    callTools(call('b', 'write')),
    callTools(call('c', 'hang')),
    inPieces(piece('Good.')),
  ];
  const tools = toolSet({ write: () => 'written', hang: () => gate.wait() }, ['write']);
  await serve({ scripts, tools }, async ({ tabs }) => {
    const page = await tabs.open();
    const key = (name: string): Promise<void> => page.keyboard.press(name);
    /** What has the focus, in words, which has to be seen there. */
    const focus = async (): Promise<string> => {
      const [name, outline] = await page.evaluate<[string, string]>(`(() => {
        const { activeElement } = document;
        const { outlineStyle, outlineWidth } = getComputedStyle(activeElement);
        const name = activeElement.getAttribute('aria-label') ?? activeElement.textContent;
        return [activeElement.id || name.trim(), outlineStyle + ' ' + outlineWidth];
      })()`);
      expect(outline).toBe('solid 2px');
      return name;
    };
    await key('n');
    await otherSession(page, '');
    await connected(page);
    await page.locator('#message:focus').waitFor();
    await page.keyboard.type('Write twice, then hang.');
    await key('Enter');
    await callIs(page, 'a', 'waiting');
    await key('Shift+Tab');
    expect(await focus()).toBe('Show');
    await key('Enter');
    expect(await focus()).toBe('Call of write, waits for approval');
    await key('Tab');
    expect(await focus()).toBe('Allow');
    await key('Enter');
    await callIs(page, 'a', 'done');
    expect(await focus(), 'is not lost with the button').toBe('Call of write, done');

    await callIs(page, 'b', 'waiting');
    await key('w');
    expect(await focus()).toBe('Call of write, waits for approval');
    await key('a');
    await callIs(page, 'c', 'running');
    await key('/');
    expect(await focus()).toBe('message');
    await page.keyboard.type('?');
    expect(await message(page).inputValue()).toBe('?');
    await key('Escape');
    await key('Backspace');
    await callIs(page, 'c', 'running');
    await key('Escape');
    await ended(page, 'cancelled');

    await key('Shift+Tab');
    await key('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await key('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    gate.open();
  });
});
