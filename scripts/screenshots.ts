/**
 * Takes the pictures of the page that stand in the documents: a scripted turn of an agent that
 * works on a small project, as a person sees it. Wants Chromium, see `test/support/chromium.ts`.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { callTools, done, ScriptedLlm, think, type Script } from '@celestea/agent-loop/testing';
import { defaultAgentConfig, zeroUsage, type StreamEvent } from '@celestea/core';
import { createHost, serveHost, type ApprovalDesk } from '@celestea/host';
import { askBefore, DefaultToolRegistry, defineTool } from '@celestea/tools';
import type { Browser, Page } from 'playwright-core';

import { launchChromium } from '../test/support/chromium.ts';
import { buildPage } from './page.ts';

const PICTURES = join(import.meta.dirname, '../docs/img');
const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 390, height: 844 };

const SOURCE = `export function parsePort(text: string): number {
  return parseInt(text);
}
`;
const TESTS = `test('reads a port', () => {
  expect(parsePort('8080')).toBe(8080);
});
`;
const BETTER = `export function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new RangeError(\`expected a port from 0 to 65535, got \${text}\`);
  }
  return port;
}
`;
const FILES: Readonly<Record<string, string>> = {
  'src/port.ts': SOURCE,
  'test/port.test.ts': TESTS,
};

const ANSWER = `\`parsePort\` refuses what is no port. Before, \`80abc\` passed as 80.

\`\`\`ts
parsePort('8080'); // 8080
parsePort('80abc'); // RangeError: expected a port from 0 to 65535, got 80abc
\`\`\`

| input | before | now |
| --- | --- | --- |
| \`8080\` | 8080 | 8080 |
| \`80abc\` | 80 | refused |
| \`70000\` | 70000 | refused |

The tests pass. Callers that relied on the old leniency: **none found**.`;

const cost = (prompt: number, completion: number): StreamEvent => ({
  kind: 'usage',
  usage: {
    ...zeroUsage(),
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  },
});

/** The pace of a model, so that the timeline shows bars of a plausible length. */
const pause = (milliseconds: number) => (): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

function reply(text: string): Script {
  const pieces = text.match(/\S+\s*/g) ?? [];
  return [...pieces.map((piece) => ({ kind: 'text' as const, text: piece })), done(text)];
}

function turn(): Script[] {
  const [read, write] = ['read_file', 'write_file'];
  const looking = 'I read the function and its tests first.';
  return [
    [
      think('The function is small. Its tests tell what callers expect, so both at once.'),
      pause(300),
      { kind: 'text', text: looking },
      cost(236, 61),
      done(
        looking,
        { id: 'call-1', name: read, args: { path: 'src/port.ts' } },
        { id: 'call-2', name: read, args: { path: 'test/port.test.ts' } },
      ),
    ],
    [
      pause(250),
      cost(412, 148),
      ...callTools({ id: 'call-3', name: write, args: { path: 'src/port.ts', text: BETTER } }),
    ],
    [pause(200), cost(590, 24), ...callTools({ id: 'call-4', name: 'run_tests', args: {} })],
    [pause(250), cost(668, 171), ...reply(ANSWER)],
  ];
}

function tools(desk: ApprovalDesk): DefaultToolRegistry {
  const registry = new DefaultToolRegistry({ findApproval: () => desk });
  const path = { type: 'string' } as const;
  registry.register(
    defineTool({
      name: 'read_file',
      description: 'Reads a file of the project.',
      parameters: { type: 'object', properties: { path }, required: ['path'] },
      execute: async (args) => {
        await pause(args.path.startsWith('test') ? 420 : 260)();
        return { path: args.path, text: FILES[args.path] ?? '' };
      },
    }),
  );
  registry.register(
    defineTool({
      name: 'write_file',
      description: 'Writes a file of the project.',
      parameters: {
        type: 'object',
        properties: { path, text: { type: 'string' } },
        required: ['path', 'text'],
      },
      execute: (args) => ({ path: args.path, bytes: args.text.length }),
      render: (written) => `Wrote ${String(written.bytes)} bytes to ${written.path}`,
    }),
  );
  registry.register(
    defineTool({
      name: 'run_tests',
      description: 'Runs the tests of the project.',
      parameters: { type: 'object' },
      execute: async () => {
        await pause(600)();
        return { exit_code: 0, stdout: 'Tests  14 passed (14)\n', stderr: '' };
      },
      render: () => '14 tests passed',
    }),
  );
  registry.addGuard(askBefore(['write_file'], 'It changes a file of the project.'));
  return registry;
}

const EARLIER = [
  ['Which of our tests take longest?', 'The three that start a server: about two seconds each.'],
  ['Write the notes for the next release', 'They are in `CHANGELOG.md`, grouped by package.'],
] as const;

/** Opens the page, takes part in what the script wants, and takes the pictures on the way. */
async function takePictures(browser: Browser, address: string): Promise<void> {
  const open = async (viewport: typeof WIDE): Promise<Page> => {
    const options = { viewport, colorScheme: 'light', deviceScaleFactor: 1 } as const;
    const context = await browser.newContext(options);
    const page = await context.newPage();
    await page.goto(address);
    return page;
  };
  const page = await open(WIDE);
  for (const [question] of EARLIER) {
    await begin(page, question);
    await page.locator('[data-outcome="completed"]').waitFor();
  }
  await begin(page, 'parsePort takes "80abc" for 80. Make it refuse what is no port.');
  await page.getByRole('button', { name: 'Allow' }).waitFor();
  await take(page, 'page-approval');
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.locator('[data-outcome="completed"]').waitFor();
  await take(page, 'page-light');
  await page.getByText(/^Timeline of/).click();
  await page.getByText('In words').waitFor();
  await page.emulateMedia({ colorScheme: 'dark' });
  await take(page, 'page-dark');
  const narrow = await open(NARROW);
  await narrow.goto(page.url());
  await narrow.locator('[data-outcome="completed"]').waitFor();
  await take(narrow, 'page-narrow');
}

async function begin(page: Page, text: string): Promise<void> {
  await page.getByRole('button', { name: 'New session' }).click();
  await page.getByText('Nothing was said here yet.').waitFor();
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.keyboard.press('Enter');
}

async function take(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0); // points at nothing
  await pause(500)(); // the last frames of what moves
  await page.screenshot({ path: join(PICTURES, `${name}.png`), animations: 'disabled' });
}

const folder = mkdtempSync(join(tmpdir(), 'celestea-pictures-'));
const built = join(folder, 'page');
mkdirSync(PICTURES, { recursive: true });
await buildPage(built);
const llm = new ScriptedLlm([...EARLIER.map(([, answer]) => reply(answer)), ...turn()]);
const parts = { llm, tools, config: defaultAgentConfig({ model: 'scripted' }) };
const host = createHost({ folder: join(folder, 'sessions'), parts, page: built });
const server = await serveHost(host);
const browser = await launchChromium();
try {
  await takePictures(browser, `${server.url}/?token=${host.token}`);
} finally {
  await browser.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
}
