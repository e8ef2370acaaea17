/**
 * A well-behaved MCP server with tools for the tests: `node server.mjs` speaks over stdio, `node
 * server.mjs --http port` over HTTP on 127.0.0.1, and writes its port on stdout.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import process from 'node:process';
import { setImmediate, setInterval, clearInterval } from 'node:timers';
import { fileURLToPath } from 'node:url';

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  isInitializeRequest,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

const PAGE = 4;

const text = (...texts) => ({ content: texts.map((each) => ({ type: 'text', text: each })) });
const never = new Promise(() => undefined);

/** What each tool does; `session` is `{ tools, log, send, opened, changed }`. */
const calls = {
  echo: (args) => text(String(args.text)),
  two: () => text('one', 'two'),
  add: ({ a, b }) => {
    const sum = { sum: a + b };
    return { ...text(JSON.stringify(sum)), structuredContent: sum };
  },
  fail: () => ({ ...text('no such file', 'look again'), isError: true }),
  steps: async (_args, { progress }) => {
    await progress({ progress: 1, total: 2, message: 'half' });
    await progress({ progress: 2, total: 2 });
    return text('done');
  },
  wait: async (_args, { progress, signal, session }) => {
    const note = () => session.log.push(`cancelled: ${signal.reason}`);
    // The cancel may have come in the same piece as the call.
    if (signal.aborted) note();
    else signal.addEventListener('abort', note, { once: true });
    await progress({ progress: 0 });
    await never;
  },
  /** Answers although it was cancelled, then says so in the log. */
  stubborn: async (_args, { progress, signal, session, requestId }) => {
    const cancelled = new Promise((resolve) => {
      signal.addEventListener('abort', resolve, { once: true });
    });
    await progress({ progress: 0 });
    await cancelled;
    await session.send({ jsonrpc: '2.0', id: requestId, result: text('too late') });
    session.log.push('answered late');
    await never;
  },
  log: async (args, { session }) => {
    while (!session.log.some((line) => line.startsWith(args.until))) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    return text(...session.log);
  },
  facts: () => ({
    content: [],
    structuredContent: { pid: process.pid, cwd: process.cwd(), env: { ...process.env } },
  }),
  change: async ({ add = [], remove = [], describe = {} }, { session }) => {
    await session.opened;
    for (const name of add) session.tools.set(name, tool(name));
    for (const name of remove) session.tools.delete(name);
    for (const [name, description] of Object.entries(describe)) {
      session.tools.set(name, { ...tool(name), description });
    }
    await session.changed();
    return text('changed');
  },
};

const tool = (name) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
});

/** A server of one session, with a list of tools of its own. */
export function serverOf(opened) {
  const server = new Server(
    { name: 'test server', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true } } },
  );
  const names = [...Object.keys(calls), 'we ird/näme', 'we_ird_n_me', 'l'.repeat(80)];
  const session = {
    tools: new Map(names.map((name) => [name, tool(name)])),
    log: [],
    opened,
    send: (message) => server.transport.send(message),
    changed: () => server.sendToolListChanged(),
  };
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    const start = Number(params?.cursor ?? 0);
    const tools = [...session.tools.values()].slice(start, start + PAGE);
    const next = start + PAGE;
    return next < session.tools.size ? { tools, nextCursor: String(next) } : { tools };
  });
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
    const run = Object.hasOwn(calls, params.name) ? calls[params.name] : () => text(params.name);
    const progressToken = params._meta?.progressToken;
    const progress = async (at) => {
      if (progressToken === undefined) return;
      const about = { ...at, progressToken };
      await extra.sendNotification({ method: 'notifications/progress', params: about });
    };
    const { signal, requestId } = extra;
    return run(params.arguments ?? {}, { session, progress, signal, requestId });
  });
  return server;
}

async function overHttp(port) {
  const transports = new Map();
  const http = createServer(async (request, response) => {
    const known = transports.get(request.headers['mcp-session-id']);
    const body = request.method === 'POST' ? await readJson(request) : undefined;
    if (known === undefined && !isInitializeRequest(body)) {
      response.writeHead(404).end();
      return;
    }
    if (request.headers.authorization !== 'Bearer secret') {
      response.writeHead(401).end('no entry');
      return;
    }
    const { transport, open } = known ?? (await newSession(transports));
    // Resolves when its stream has ended, so that a stream is open as soon as it has a head.
    const handled = transport.handleRequest(request, response, body);
    if (request.method === 'GET') {
      while (!response.headersSent) await new Promise((resolve) => setImmediate(resolve));
      open();
    }
    await handled;
  });
  http.listen(port, '127.0.0.1', () => {
    process.stdout.write(`${String(http.address().port)}\n`);
  });
}

async function newSession(transports) {
  let open;
  const opened = new Promise((resolve) => {
    open = resolve;
  });
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => transports.set(id, { transport, open }),
    onsessionclosed: (id) => {
      transports.delete(id);
      process.stdout.write('session closed\n');
    },
  });
  await serverOf(opened).connect(transport);
  return { transport, open };
}

async function readJson(request) {
  let body = '';
  for await (const chunk of request) body += chunk;
  return JSON.parse(body);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv[2] === '--http') await overHttp(Number(process.argv[3]));
  else await serverOf(Promise.resolve()).connect(new StdioServerTransport());
  // Nothing but the end of its input, or a signal, ends it.
  const alive = setInterval(() => undefined, 1e6);
  process.stdin.on('close', () => clearInterval(alive)).resume();
}
