/**
 * A server over stdio by hand, which starts sooner than one with the SDK and can break any rule:
 * `node by-hand.mjs [way] [result of the tool "a", as JSON]`.
 */
import { spawn } from 'node:child_process';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { setInterval } from 'node:timers';

const [way = 'good', result = '{}'] = process.argv.slice(2);
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const answer = (id, value) => write({ id, result: value });
const say = (id, text) => answer(id, { content: [{ type: 'text', text }] });
const initialized = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: ' a\n rude   server ', version: '0' },
};

/** Deaf ones do not end with their input either. */
if (way === 'silent' || way === 'deaf') {
  process.stderr.write('cannot find my config\n');
  process.stdout.write('Usage: serve [options]\n');
  if (way === 'deaf') process.on('SIGTERM', () => undefined);
  setInterval(() => undefined, 1e6);
}

const calls = {
  a(id) {
    switch (way) {
      case 'garbage':
        process.stdout.write('debug: called\n{"jsonrpc":"2.0"}\n\n[]\n"text"\n{"id":\n');
        break;
      case 'huge':
        process.stdout.write('x'.repeat(33 * 1024 * 1024 + 1));
        return;
      case 'twice':
        answer(id, JSON.parse(result));
        say(id, 'and again');
        answer('nonsense', {});
        return;
      case 'asks':
        write({ id: 7, method: 'sampling/createMessage', params: {} });
        write({ id: 8, method: 'roots/list' });
    }
    answer(id, JSON.parse(result));
  },
  echo: (id, { text }) => say(id, text),
  /** Says that it waits. */
  wait: (_id, _args, { progressToken }) => {
    write({ method: 'notifications/progress', params: { progressToken, progress: 0 } });
  },
  die: () => {
    process.stderr.write('out of luck\n');
    process.exit(3);
  },
  facts: (id) => {
    const structuredContent = { pid: process.pid, cwd: process.cwd(), env: { ...process.env } };
    answer(id, { structuredContent });
  },
  /** A grandchild that holds stdout open, and is deaf to SIGTERM when asked to be. */
  offspring: (id, { deaf }) => {
    const code = `${deaf ? "process.on('SIGTERM', () => {});" : ''}setInterval(() => {}, 1e6);
      process.stderr.write('up')`;
    const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'inherit', 'pipe'] });
    child.stderr.once('data', () => {
      child.stderr.destroy();
      child.unref();
      answer(id, { structuredContent: { pid: child.pid } });
    });
  },
  /** Offers one more tool. */
  change: (id, { add }) => {
    calls[add] = (each) => say(each, add);
    write({ method: 'notifications/tools/list_changed' });
    say(id, 'changed');
  },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  if (way === 'silent' || way === 'deaf') return;
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') answer(id, way === 'no-init' ? { hello: 'you' } : initialized);
  else if (method === 'tools/list') answer(id, { tools: Object.keys(calls).map((name) => ({ name })) });
  else if (method === 'ping') answer(id, {});
  else if (method === 'tools/call') calls[params.name](id, params.arguments, params._meta);
});
