import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { assertLogValid, callTools, HangingLlm, say, ScriptedLlm } from '@celestea/agent-loop/testing';
import { describe, expect, onTestFinished, test } from 'vitest';

import { runCli, type CliParts } from '../src/index.ts';
import { caller, lastResults, write } from './support/approval.ts';
import { freshFolder } from './support/folder.ts';
import { fakeIo, FakeOutput } from './support/io.ts';
import { call, modelServer, words } from './support/model-server.ts';
import { onlySession, rowsIn } from './support/session.ts';
import { refused, serve, serveAt } from './support/served.ts';

const SERVER = fileURLToPath(
  new URL('../../mcp/test/support/by-hand.mjs', import.meta.url),
);
const COMMAND = `'${process.execPath}' "${SERVER}"`;
const PAGE = fileURLToPath(new URL('../../host/dist/page/index.html', import.meta.url));
const TOKEN = 'a-token-that-nobody-guesses-0123456789';

const scripted = (llm: ScriptedLlm | HangingLlm): CliParts => ({ model: { name: 'scripted', llm } });

const hello = (): CliParts => scripted(new ScriptedLlm([say('Hi.')]));

test('says who answers, over which folder, where sessions are kept and where it is', async () => {
  const cwd = freshFolder();
  const served = await serve(cwd, [], hello());
  const { port } = served.url;
  expect(served.io.stdout.text.split('\n')).toEqual([
    'model     scripted',
    `folder    ${cwd}`,
    'sessions  .celestea/sessions',
    `address   http://127.0.0.1:${port}/?token=${served.token}`,
    ...(existsSync(PAGE) ? [] : ['page      not built: the address says how to use the API']),
    'ctrl-c ends it',
    '',
  ]);
  expect(readFileSync(join(cwd, '.celestea/.gitignore'), 'utf8')).toBe('*\n');
  expect(await served.end()).toBe(0);
  expect(served.io.stderr.text).toBe('');
});

test('whoever has another token is refused', async () => {
  const served = await serve(freshFolder(), [], hello());
  expect((await served.get('/api/sessions')).status).toBe(200);
  expect((await served.get('/api/sessions', TOKEN)).status).toBe(401);
});

test('a session of the terminal is seen in the host, and goes on there', async () => {
  const cwd = freshFolder();
  expect(await runCli(['Is there tea?'], fakeIo({ cwd }), hello())).toBe(0);
  const served = await serve(cwd, [], hello());
  const { body } = await served.get('/api/sessions');
  expect(body['sessions']).toMatchObject([{ title: 'Is there tea?' }]);
  const [{ id = '' } = {}] = body['sessions'] as { id?: string }[];
  const events = await served.turn(id, 'And milk?');
  expect(events.at(-1)?.payload).toMatchObject({ phase: 'completed', turn: 'turn-1' });
});

test('a session of the host goes on in the terminal when the host has ended', async () => {
  const cwd = freshFolder();
  const served = await serve(cwd, [], hello());
  const id = await served.session();
  await served.turn(id, 'Is there tea?');
  const file = `.celestea/sessions/${id}.jsonl`;
  const meanwhile = fakeIo({ cwd });
  expect(await runCli(['--session', file, 'And milk?'], meanwhile, hello())).toBe(1);
  expect(meanwhile.stderr.text).toMatch(/^celestea: .* is in use by process \d+ .*\n$/);
  expect(await served.end()).toBe(0);
  expect(await runCli(['--resume', 'And milk?'], fakeIo({ cwd }), hello())).toBe(0);
  const rows = rowsIn(onlySession(cwd));
  expect(rows.filter(({ type }) => type === 'turn_start')).toHaveLength(2);
  assertLogValid(rows);
});

test('a session that the terminal has open is listed, and a turn in it is refused', async () => {
  const cwd = freshFolder();
  const cancel = new AbortController();
  let tell = (): void => undefined;
  const asked = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const stdout = new FakeOutput(false, (text) => {
    if (text.includes('Half')) tell();
  });
  const io = fakeIo({ cwd, signal: cancel.signal, stdout });
  const half = scripted(new HangingLlm([{ kind: 'text', text: 'Half of' }]));
  const terminal = runCli(['what is here?'], io, half);
  await asked;
  const served = await serve(cwd, [], hello());
  const { body } = await served.get('/api/sessions');
  expect(body['sessions']).toMatchObject([{ title: 'what is here?' }]);
  const [{ id = '' } = {}] = body['sessions'] as { id?: string }[];
  const refused = await served.post(`/api/sessions/${id}/turns`, { input: 'hello' });
  expect(refused.status).toBe(409);
  expect(refused.body['error']).toMatchObject({
    code: 'busy',
    message: expect.stringContaining(`is in use by process ${String(process.pid)}`) as unknown,
  });
  cancel.abort();
  expect(await terminal).toBe(130);
  const events = await served.turn(id, 'hello');
  expect(events.at(-1)?.payload).toMatchObject({ phase: 'completed' });
});

test('a turn that runs when it ends is cancelled and written as such', async () => {
  const cwd = freshFolder();
  const served = await serve(cwd, [], scripted(new HangingLlm()));
  const id = await served.session();
  const codes: Promise<number>[] = [];
  await served.turn(id, 'hello', ({ payload }) => {
    if (payload['phase'] === 'start') codes.push(served.end());
  });
  expect(await Promise.all(codes)).toEqual([0]);
  const rows = rowsIn(onlySession(cwd));
  expect(rows.at(-1)).toMatchObject({ type: 'turn_end', outcome: 'cancelled' });
  assertLogValid(rows);
});

describe('what a model may do', () => {
  test('a call that asks waits until it is allowed', async () => {
    const cwd = freshFolder();
    const llm = caller([write('a', 'tea.md')], [write('b', 'milk.md')]);
    const served = await serve(cwd, [], scripted(llm));
    const id = await served.session();
    const answers = [{ decision: 'allow' }, { decision: 'deny', reason: 'no milk' }];
    const events = await served.turn(id, 'go', async ({ event, payload }) => {
      if (event !== 'question') return;
      const answer = answers.shift();
      const approval = String(payload['id']);
      const { status } = await served.post(`/api/sessions/${id}/approvals/${approval}`, answer);
      expect(status).toBe(200);
    });
    expect(answers).toEqual([]);
    expect(events.at(-1)?.payload).toMatchObject({ phase: 'completed', steps: 3 });
    expect(readFileSync(join(cwd, 'tea.md'), 'utf8')).toBe('tea\n');
    expect(existsSync(join(cwd, 'milk.md'))).toBe(false);
    expect(lastResults(llm.requests[2])).toContain('no milk');
  });

  test('a call of a real model runs once it is allowed', async () => {
    const answers = [call('a', 'write_file', { path: 'tea.md', content: 'tea\n' }), words('Done.')];
    const { url } = await modelServer(...answers);
    const cwd = freshFolder();
    const served = await serve(cwd, ['--base-url', url, '--model=tea']);
    expect(served.io.stdout.text).toMatch(/^model +local:tea$/m);
    const id = await served.session();
    const events = await served.turn(id, 'write it down', async ({ event, payload }) => {
      if (event !== 'question') return;
      const path = `/api/sessions/${id}/approvals/${String(payload['id'])}`;
      expect((await served.post(path, { decision: 'allow' })).status).toBe(200);
    });
    expect(events.map(({ event }) => event)).toContain('question');
    expect(events.at(-1)?.payload).toMatchObject({ phase: 'completed', steps: 2 });
    expect(await served.end()).toBe(0);
    expect(served.io.stderr.text).toBe('');
    expect(rowsIn(onlySession(cwd))).toContainEqual(
      expect.objectContaining({ type: 'tool_result', id: 'a', error: null }),
    );
  });

  test('--yes allows what asks', async () => {
    const cwd = freshFolder();
    const served = await serve(cwd, ['--yes'], scripted(caller([write('a', 'tea.md')])));
    const events = await served.turn(await served.session(), 'go');
    expect(events.map(({ event }) => event)).not.toContain('question');
    expect(existsSync(join(cwd, 'tea.md'))).toBe(true);
  });

  test('--read-only offers nothing that changes things', async () => {
    const llm = new ScriptedLlm([say('Hi.')]);
    const served = await serve(freshFolder(), ['--read-only'], scripted(llm));
    await served.turn(await served.session(), 'go');
    const names = llm.requests[0]?.tools.map(({ name }) => name);
    expect(names).toEqual(['list_dir', 'read_file', 'search_text']);
  });

  test('the servers are started once for all sessions, ask, and end with the host', async () => {
    const facts = (id: string) => callTools({ id, name: 'mcp1_facts', args: {} });
    const llm = new ScriptedLlm([facts('a'), say('One.'), facts('b'), say('Two.')]);
    const served = await serve(freshFolder(), ['--mcp', COMMAND], scripted(llm));
    for (const text of ['one', 'two']) {
      const id = await served.session();
      await served.turn(id, text, async ({ event, payload }) => {
        if (event !== 'question') return;
        expect(payload['reason']).toBe('it is a tool of an MCP server');
        const path = `/api/sessions/${id}/approvals/${String(payload['id'])}`;
        await served.post(path, { decision: 'allow' });
      });
    }
    const pids = [llm.requests[1], llm.requests[3]].map(
      (request) => /"pid\\*":(\d+)/.exec(lastResults(request))?.[1],
    );
    expect(pids[0]).toMatch(/^\d+$/);
    expect(pids[1]).toBe(pids[0]);
    expect(await served.end()).toBe(0);
    expect(() => process.kill(Number(pids[0]), 0)).toThrow('ESRCH');
  });

  test('a server that dies is started again, three times within ten minutes', async () => {
    const ways = ['die', 'facts', 'die', 'facts', 'die', 'facts', 'die', 'facts'];
    const replies = ways.map((way, index) =>
      callTools({ id: String(index), name: `mcp1_${way}`, args: {} }),
    );
    const llm = new ScriptedLlm([...replies, say('Done.')]);
    const served = await serve(freshFolder(), ['--yes', '--mcp', COMMAND], scripted(llm));
    await served.turn(await served.session(), 'go');
    const results = [2, 4, 6, 8].map((index) => lastResults(llm.requests[index]));
    for (const result of results.slice(0, 3)) expect(result).toContain('pid');
    expect(results[3]).toMatch(/no more restarts are tried for \d+ s \(3 within 600 s\)/);
  });

  test('--tool-timeout gives up on a call, and the turn goes on', async () => {
    const llm = caller([write('a', 'tea.md')]);
    const served = await serve(freshFolder(), ['--tool-timeout=0.01'], scripted(llm));
    const events = await served.turn(await served.session(), 'nobody answers');
    expect(lastResults(llm.requests[1])).toContain('gave no result within 10 ms');
    expect(events.at(-1)?.payload).toMatchObject({ phase: 'completed' });
  });
});

describe('the port', () => {
  const occupied = async (port = 0): Promise<number> => {
    const server = createServer();
    const taken = await new Promise<number>((resolve) => {
      server.on('error', () => {
        resolve(port); // somebody else has it, which is as good
      });
      server.listen(port, '127.0.0.1', () => {
        resolve((server.address() as AddressInfo).port);
      });
    });
    onTestFinished(async () => {
      if (server.listening) await new Promise((done) => server.close(done));
    });
    return taken;
  };

  test('one that was asked for and is taken is a failure in one line', async () => {
    const port = String(await occupied());
    const { code, stderr } = await refused(freshFolder(), ['--port', port]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `celestea: --port: cannot listen at ${port}: somebody else listens there\n`,
    });
  });

  test('when the usual one is taken it is another, and that is said', async () => {
    await occupied(7717);
    const served = await serveAt(freshFolder(), [], hello());
    expect(served.url.port).not.toBe('7717');
    expect(served.io.stderr.text).toMatch(/^port 7717 cannot be had \(EADDRINUSE\), .*\n$/);
    expect((await served.get('/api/sessions')).status).toBe(200);
  });
});

test('a folder where no sessions can be kept is a failure', async () => {
  const cwd = freshFolder();
  writeFileSync(join(cwd, '.celestea'), '');
  const { code, stderr } = await refused(cwd);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^celestea: sessions cannot be kept: .*\n$/);
});

test('a folder that is not there is misuse', async () => {
  const { code, stderr } = await refused(freshFolder(), ['--root', 'nowhere']);
  expect(code).toBe(2);
  expect(stderr).toContain('does not exist');
});
