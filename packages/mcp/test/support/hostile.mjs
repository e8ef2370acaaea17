/**
 * A server that keeps no rule, over stdio and by hand: `node hostile.mjs <way> [tools as
 * JSON] [result as JSON]`.
 */
import process from 'node:process';
import { createInterface } from 'node:readline';
import { setInterval } from 'node:timers';

const [way, tools = '[]', result = '{}'] = process.argv.slice(2);
const write = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const answer = (id, value) => write({ jsonrpc: '2.0', id, result: value });
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

const pages = { listed: 0, relists: 0 };

function list(id) {
  switch (way) {
    case 'endless':
      return answer(id, { tools: [], nextCursor: String((pages.listed += 1)) });
    case 'stuck':
      return answer(id, { tools: JSON.parse(tools), nextCursor: 'again' });
    case 'no-list':
      return answer(id, { tools: 'all of them' });
    case 'no-tools':
      return write({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
    case 'flood':
      answer(id, { tools: JSON.parse(tools) });
      pages.relists += 1;
      return write({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    default:
      return answer(id, { tools: JSON.parse(tools) });
  }
}

function call(id, args) {
  switch (way) {
    case 'garbage':
      process.stdout.write('debug: called\n{"jsonrpc":"2.0"}\n\n[]\n"text"\n{"id":');
      process.stdout.write('\n');
      return answer(id, JSON.parse(result));
    case 'huge':
      return process.stdout.write('x'.repeat(33 * 1024 * 1024 + 1));
    case 'big-image':
      return answer(id, {
        content: [{ type: 'image', mimeType: 'image/png', data: 'A'.repeat(args.length) }],
      });
    case 'twice':
      answer(id, JSON.parse(result));
      answer(id, { content: [{ type: 'text', text: 'and again' }] });
      return answer('nonsense', {});
    case 'flood':
      return answer(id, { content: [{ type: 'text', text: String(pages.relists) }] });
    case 'asks':
      write({ jsonrpc: '2.0', id: 7, method: 'sampling/createMessage', params: {} });
      write({ jsonrpc: '2.0', id: 8, method: 'roots/list' });
      return answer(id, JSON.parse(result));
    default:
      return answer(id, JSON.parse(result));
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  if (way === 'silent' || way === 'deaf') return;
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') answer(id, way === 'no-init' ? { hello: 'you' } : initialized);
  else if (method === 'tools/list') list(id);
  else if (method === 'tools/call') call(id, params.arguments);
});
