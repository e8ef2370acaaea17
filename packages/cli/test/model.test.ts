import { readFileSync } from 'node:fs';

import { say, ScriptedLlm } from '@celestea/agent-loop/testing';
import { llmFromEnv, LlmSetupError } from '@celestea/llm';
import { describe, expect, it } from 'vitest';

import { runCli, type CliParts } from '../src/index.ts';
import { freshFolder, SESSION_FILE } from './support/folder.ts';
import { fakeIo, FakeOutput, type FakeIo } from './support/io.ts';
import { call, models, modelServer, refuse, silence, words } from './support/model-server.ts';
import { onlySession, rowsIn, sessionNames } from './support/session.ts';
import { FakeTerminal, KEY } from './support/terminal.ts';

/** As the command does it, without the time between two tries. */
const QUICK: CliParts = {
  findModel: (options) => llmFromEnv({ ...options, retry: { baseDelayMs: 0, maxDelayMs: 0 } }),
};
const KEY_TEXT = 'not-to-be-seen-0123456789';

const at = (url: string, ...names: readonly string[]): string[] => [
  '--base-url', url, ...names.flatMap((name) => ['--model', name]),
];

const ask = (argv: readonly string[], io: FakeIo): Promise<number> =>
  runCli([...argv, 'hello'], io, QUICK);

describe('a real model', () => {
  it('answers where a base URL is, and is named once', async () => {
    const { url, asked } = await modelServer(words('Good morning.'));
    const io = fakeIo({ cwd: freshFolder() });
    expect(await ask(at(url, 'tea'), io)).toBe(0);
    const header = `local:tea · ${io.cwd} · ${SESSION_FILE}`;
    expect(io.stdout.text).toMatch(new RegExp(`^${header}\n\nGood morning\\.\n\n`));
    expect(io.stdout.text).toContain('\ncompleted · 1 step · tokens 7 prompt, 2 completion · ');
    expect(io.stderr.text).toBe('');
    expect(asked.map(({ path }) => path)).toEqual(['/v1/chat/completions']);
    expect(asked[0]?.authorization).toBeUndefined();
    expect(asked[0]?.body.model).toBe('tea');
    expect(asked[0]?.body.messages.at(-1)).toEqual({ role: 'user', content: 'hello' });
  });

  it('is the first that the server has when none is named', async () => {
    const { url, asked } = await modelServer(models('milk', 'tea'), words('Hi.'));
    const io = fakeIo({ cwd: freshFolder() });
    expect(await ask(at(url), io)).toBe(0);
    expect(io.stdout.text).toMatch(/^local:milk · /);
    expect(asked.map(({ path }) => path)).toEqual(['/v1/models', '/v1/chat/completions']);
  });

  it('answers where the environment has a key, which goes to its server alone', async () => {
    const { url, asked } = await modelServer(words('Hi.'));
    const env = { OPENAI_API_KEY: KEY_TEXT, OPENAI_BASE_URL: url };
    const io = fakeIo({ cwd: freshFolder(), env });
    expect(await runCli(['hello'], io)).toBe(0);
    expect(io.stdout.text).toMatch(/^openai:[\w.-]+ · /);
    expect(asked[0]?.authorization).toBe(`Bearer ${KEY_TEXT}`);
  });

  it('works with the files of the folder', async () => {
    const { url, asked } = await modelServer(
      call('a', 'read_file', { path: 'tea.md' }),
      words('It is green.'),
    );
    const io = fakeIo({ cwd: freshFolder({ 'tea.md': 'Green tea.\n' }) });
    expect(await ask(at(url, 'tea'), io)).toBe(0);
    expect(io.stdout.text).toContain('→ #1 read_file {"path":"tea.md"}\n✓ #1 read_file ');
    expect(io.stdout.text).toContain('\n\nIt is green.\n\ncompleted · 2 steps · tokens 14 ');
    const [, second] = asked;
    expect(second?.body.messages.at(-1)).toMatchObject({ role: 'tool', tool_call_id: 'a' });
    expect(JSON.stringify(second?.body.messages.at(-1))).toContain('Green tea.');
    expect(rowsIn(onlySession(io.cwd)).map(({ type }) => type)).toContain('tool_result');
  });

  it('is not asked with --offline', async () => {
    const { url, asked } = await modelServer();
    const env = { OPENAI_API_KEY: KEY_TEXT, OPENAI_BASE_URL: url, CELESTEA_MODEL: 'tea' };
    const io = fakeIo({ cwd: freshFolder(), env });
    expect(await ask(['--offline'], io)).toBe(0);
    expect(io.stdout.text).toMatch(/^offline model · /);
    expect(asked).toEqual([]);
  });

  it('is not asked when what could be a key is blank', async () => {
    const env = { OPENAI_API_KEY: '', DEEPSEEK_API_KEY: ' ', OPENAI_BASE_URL: '' };
    const io = fakeIo({ cwd: freshFolder(), env });
    expect(await ask([], io)).toBe(0);
    expect(io.stdout.text).toMatch(/^offline model · /);
  });

  it('of the host answers whatever the environment says', async () => {
    const io = fakeIo({ cwd: freshFolder(), env: { DEEPSEEK_API_KEY: KEY_TEXT } });
    const model = { name: 'of the host', llm: new ScriptedLlm([say('Hi.')]) };
    expect(await runCli(['hello'], io, { model })).toBe(0);
    expect(io.stdout.text).toMatch(/^of the host · /);
  });
});

describe('what happens beside the replies', () => {
  const busy = refuse(429, 'Too Many \x1b[2JRequests', { 'retry-after': '0' });

  it('is one dim line on stderr for each retry', async () => {
    const { url, asked } = await modelServer(busy, busy, words('Hi.'));
    const io = fakeIo({ cwd: freshFolder(), stderr: new FakeOutput(true) });
    expect(await ask(at(url, 'tea'), io)).toBe(0);
    const lines = [2, 3].map((attempt) => {
      const what = `retrying local:tea now (${String(attempt)} of 3): `;
      return `\x1b[2m${what}HTTP 429: Too Many \\x1b[2JRequests\x1b[22m\n`;
    });
    expect(io.stderr.text).toBe(lines.join(''));
    expect(io.stdout.text).toContain('Hi.\n\ncompleted · 1 step');
    expect(asked).toHaveLength(3);
  });

  it('says which model failed, which is asked, and once which one answers', async () => {
    const { url, asked } = await modelServer(
      refuse(400, 'no such model'),
      call('a', 'list_dir', { path: '.' }),
      refuse(401, 'who are you?'),
      words('Nothing here.'),
    );
    const io = fakeIo({ cwd: freshFolder() });
    expect(await ask(at(url, 'tea', 'milk'), io)).toBe(0);
    expect(io.stdout.text).toMatch(/^local:tea · /);
    expect(io.stderr.text.split('\n')).toEqual([
      'local:tea failed, asking local:milk: HTTP 400: no such model',
      'local:milk answers',
      'local:tea failed, asking local:milk: HTTP 401: who are you?',
      '',
    ]);
    expect(asked.map(({ body }) => body.model)).toEqual(['tea', 'milk', 'tea', 'milk']);
  });

  it('says so when the first one is back', async () => {
    const { url } = await modelServer(
      refuse(400, 'not now'),
      call('a', 'list_dir', { path: '.' }),
      words('Nothing here.'),
    );
    const io = fakeIo({ cwd: freshFolder() });
    expect(await ask(at(url, 'tea', 'milk'), io)).toBe(0);
    expect(io.stderr.text).toMatch(/: HTTP 400: not now\nlocal:milk answers\nlocal:tea answers\n$/);
  });

  it('is a status frame with --json', async () => {
    const { url } = await modelServer(busy, refuse(404, 'gone'), words('Hi.'));
    const io = fakeIo({ cwd: freshFolder() });
    expect(await ask(['--json', ...at(url, 'tea', 'milk')], io)).toBe(0);
    expect(io.stderr.text).toBe('');
    const frames = io.stdout.text.trimEnd().split('\n').map((line) => JSON.parse(line) as object);
    const gone = `HTTP 404 at ${url}/chat/completions: gone`;
    const message = 'HTTP 429: Too Many \x1b[2JRequests';
    expect(frames.slice(0, 3)).toEqual([
      {
        phase: 'retry', model: 'local:tea', attempt: 2, attempts: 3, delay_ms: 0, message,
      },
      { phase: 'fallback', failed: 'local:tea', next: 'local:milk', message: gone },
      { phase: 'answer', model: 'local:milk' },
    ].map((payload, seq) => ({
      v: 1, session: 'cli', turn: 'turn-0', seq, event: 'status', payload,
    })));
    expect(frames.at(-1)).toMatchObject({ event: 'turn_end', payload: { outcome: 'completed' } });
  });

  it('is a line above the prompt, and each turn asks the first model first', async () => {
    const { url } = await modelServer(
      refuse(400, 'not now'), words('One.'), refuse(400, 'still not'), words('Two.'),
    );
    const terminal = new FakeTerminal();
    const stderr = new FakeOutput(true);
    const io = fakeIo({ cwd: freshFolder(), terminal, stderr });
    const exit = runCli(at(url, 'tea', 'milk'), io, QUICK);
    for (const answer of ['One.', 'Two.']) {
      await terminal.shows('› ');
      terminal.type('hello', KEY.enter);
      await terminal.shows('local:tea failed, asking local:milk');
      await terminal.shows('local:milk answers');
      await terminal.shows(answer);
    }
    await terminal.shows('› ');
    terminal.type(KEY.ctrlD);
    expect(await exit).toBe(0);
    expect(stderr.text).toBe('');
  });
});

describe('when no model answers', () => {
  it('the turn fails with what the last one said, and no key is seen anywhere', async () => {
    const told = refuse(401, ({ authorization = '' }) => `no: ${authorization}, ${KEY_TEXT}`);
    const { url, asked } = await modelServer(told, told);
    const env = { CELESTEA_API_KEY: KEY_TEXT };
    const io = fakeIo({ cwd: freshFolder(), env });
    expect(await ask(at(url, 'tea', 'milk'), io)).toBe(1);
    expect(asked.map(({ authorization }) => authorization)).toEqual(
      [`Bearer ${KEY_TEXT}`, `Bearer ${KEY_TEXT}`],
    );
    expect(io.stdout.text).toContain('\nerror (generate: HTTP 401: no: ');
    const session = readFileSync(onlySession(io.cwd), 'utf8');
    for (const text of [io.stdout.text, io.stderr.text, session]) {
      expect(text).not.toContain(KEY_TEXT);
    }
  });

  it('--idle-timeout ends each try, and with the last one the turn', async () => {
    const { url, asked } = await modelServer(silence(), silence(), silence());
    const io = fakeIo({ cwd: freshFolder() });
    expect(await ask(['--idle-timeout', '0.01', ...at(url, 'tea')], io)).toBe(1);
    expect(asked.length).toBeLessThanOrEqual(3); // a try may end before the server has read it
    expect(io.stderr.text).toMatch(/^retrying local:tea now \(2 of 3\): .*10 ms.*\nretrying .*\n$/);
    expect(io.stdout.text).toMatch(/\nerror \((generate|stream): .*10 ms/);
  });

  it.each([
    ['a missing adapter', 'anthropic models need a package: npm install some-adapter@3'],
    ['one whose message leaves the command to us', 'anthropic models need a package'],
  ])('%s is told with what installs it, and no session is begun', async (_, message) => {
    const io = fakeIo({ cwd: freshFolder() });
    const findModel = (): Promise<never> =>
      Promise.reject(new LlmSetupError(message, 'npm install some-adapter@3'));
    expect(await runCli(['--model', 'anthropic:', 'hello'], io, { findModel })).toBe(1);
    expect(io.stderr.text).toBe(
      'celestea: anthropic models need a package: npm install some-adapter@3\n',
    );
    expect(io.stdout.text).toBe('');
    expect(sessionNames(io.cwd)).toEqual([]);
  });

  it.each([
    ['its key is missing', ['--model', 'deepseek:deepseek-chat'], {}, 'set DEEPSEEK_API_KEY'],
    ['there is no key at all', ['--model', 'tea'], {}, '"tea": set one of DEEPSEEK_API_KEY, '],
    ['its key cannot be one', [], { OPENAI_API_KEY: `${KEY_TEXT} x` }, 'OPENAI_API_KEY: expected '],
    ['its base URL cannot be one', [], { OPENAI_BASE_URL: 'tea' }, 'OPENAI_BASE_URL: expected '],
  ])('%s: told, and never the offline model', async (_, options, env, message) => {
    const io = fakeIo({ cwd: freshFolder(), env });
    expect(await ask(options, io)).toBe(1);
    expect(io.stderr.text).toMatch(/^celestea: [^\n]+\n$/);
    expect(io.stderr.text).toContain(message);
    expect(io.stderr.text).not.toContain(KEY_TEXT);
    expect(io.stdout.text).toBe('');
    expect(sessionNames(io.cwd)).toEqual([]);
  });

  it.each<[string, string[], RegExp]>([
    ['folder', ['--root', 'nope'], /^celestea: --root: the folder ".*nope" does not exist\n/],
    ['last session', ['--resume'], /^celestea: --resume: expected a session in /],
    ['session', ['--resume', '--session=no.jsonl'], /^celestea: --session: expected a file to/],
    ['session file', ['--session=.'], /: --session: expected a file, but ".*" is a folder/],
  ])('a %s that cannot be used is told before a server is asked', async (_, options, message) => {
    const { url, asked } = await modelServer();
    const io = fakeIo({ cwd: freshFolder() });
    expect(await ask([...at(url), ...options], io)).toBe(2);
    expect(io.stderr.text).toMatch(message);
    expect(asked).toEqual([]);
  });

  it('a base URL is not passed over for what the environment names', async () => {
    const { url, asked } = await modelServer();
    const env = { DEEPSEEK_API_KEY: KEY_TEXT, CELESTEA_MODEL: 'deepseek:deepseek-chat' };
    const io = fakeIo({ cwd: freshFolder(), env });
    expect(await ask(at(url), io)).toBe(1);
    expect(io.stderr.text).toMatch(/^celestea: CELESTEA_MODEL names "deepseek:deepseek-chat"/);
    expect(io.stderr.text).toContain(url);
    expect(asked).toEqual([]);
  });

  it('--idle-timeout ends the wait for the names of the models', async () => {
    const { url } = await modelServer(silence());
    const io = fakeIo({ cwd: freshFolder() });
    expect(await ask(['--idle-timeout', '0.01', ...at(url)], io)).toBe(1);
    expect(io.stderr.text).toMatch(/^celestea: no model is named, and .* answer for 10 ms\n$/);
    expect(sessionNames(io.cwd)).toEqual([]);
  });

  it('--timeout ends the setting up', async () => {
    const io = fakeIo({ cwd: freshFolder() });
    const findModel: CliParts['findModel'] = ({ signal }) =>
      new Promise((_, reject) => {
        signal?.addEventListener('abort', () => {
          reject(new Error('aborted'));
        });
      });
    expect(await runCli(['--timeout', '0.01', 'hello'], io, { findModel })).toBe(130);
    expect(io.stderr.text).toBe(
      'celestea: cancelled while the model was set up: it took longer than --timeout, 10 ms\n',
    );
    expect(sessionNames(io.cwd)).toEqual([]);
  });

  const limits = [[[]], [['--timeout', '9999']]];
  it.each(limits)('is cancelled while it is set up, with %j', async (limit) => {
    const cancel = new AbortController();
    const { url } = await modelServer(
      silence(() => {
        cancel.abort();
      }),
    );
    const io = fakeIo({ cwd: freshFolder(), signal: cancel.signal });
    const given: (AbortSignal | undefined)[] = [];
    const findModel: CliParts['findModel'] = (options) => {
      given.push(options.signal); // without it, the wait would end as well, but later
      return llmFromEnv(options);
    };
    expect(await runCli([...at(url), ...limit, 'hello'], io, { findModel })).toBe(130);
    expect(given.map((signal) => signal?.aborted)).toEqual([true]);
    expect(io.stderr.text).toBe('celestea: cancelled while the model was set up\n');
    expect(sessionNames(io.cwd)).toEqual([]);
  });
});
