import { request, type IncomingMessage } from 'node:http';

import { afterEach, expect } from 'vitest';

import { runCli, type CliParts } from '../../src/index.ts';
import { Celestea, type Ended } from './child.ts';
import { fakeIo, FakeOutput, type FakeIo } from './io.ts';

const serving = new Set<() => Promise<number>>();

// The server gives the signal of each request to a Request of Node's own, which listens on it for
// as long as the request is held: that is no listener of ours.
const guarded = globalThis.AbortController;
const unguarded = Object.getPrototypeOf(guarded) as typeof AbortController;

afterEach(async () => {
  await Promise.all([...serving].map((end) => end()));
  serving.clear();
  globalThis.AbortController = guarded;
});

/** What a host answered. */
export interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** An event of a session. */
export interface SessionEvent {
  readonly event: string;
  readonly payload: Record<string, unknown>;
}

/** The last line of what is printed when the host is there. */
const LAST_LINE = 'ctrl-c ends it\n';

/** Asks a host as a program does, by the address that was printed. */
export class HostClient {
  readonly url: URL;
  readonly token: string;

  constructor(printed: string) {
    const [, address = ''] = /^address +(\S+)$/m.exec(printed) ?? [];
    this.url = new URL(address);
    this.token = this.url.searchParams.get('token') ?? '';
  }

  get(path: string, token = this.token): Promise<Reply> {
    return this.#ask('GET', path, token);
  }

  post(path: string, body: unknown = {}): Promise<Reply> {
    return this.#ask('POST', path, this.token, JSON.stringify(body));
  }

  /** Whether the host is there. */
  async answers(): Promise<boolean> {
    try {
      return (await this.get('/api/healthz')).status === 200;
    } catch {
      return false;
    }
  }

  /** Makes a session and gives its id. */
  async session(): Promise<string> {
    const { body } = await this.post('/api/sessions');
    return (body['session'] as { id: string }).id;
  }

  /** Starts a turn and gives the events up to how it ended; each is handed over as it comes. */
  async turn(
    id: string,
    text: string,
    onEvent: (event: SessionEvent) => unknown = () => undefined,
  ): Promise<SessionEvent[]> {
    const now = await this.get(`/api/sessions/${id}`);
    const after = String(now.body['last_event_id']);
    const stream = await this.#open('GET', `/api/sessions/${id}/events?lastEventId=${after}`, this.token);
    const { body } = await this.post(`/api/sessions/${id}/turns`, { input: text });
    const events: SessionEvent[] = [];
    for await (const event of eventsOf(stream)) {
      events.push(event);
      await onEvent(event);
      const { payload } = event;
      if (event.event === 'status' && payload['turn'] === body['turn'] && 'total' in payload) break;
    }
    stream.destroy();
    return events;
  }

  async #ask(method: string, path: string, token: string, body?: string): Promise<Reply> {
    const response = await this.#open(method, path, token, body);
    let text = '';
    for await (const piece of response) text += String(piece);
    return { status: response.statusCode ?? 0, body: JSON.parse(text) as Reply['body'] };
  }

  #open(method: string, path: string, token: string, body?: string): Promise<IncomingMessage> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return new Promise((resolve, reject) => {
      const asked = request(new URL(path, this.url), { method, headers, agent: false }, (response) => {
        resolve(response.setEncoding('utf8'));
      });
      asked.on('error', reject).end(body);
    });
  }
}

async function* eventsOf(stream: IncomingMessage): AsyncGenerator<SessionEvent> {
  let text = '';
  for await (const piece of stream) {
    text += String(piece);
    const frames = text.split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) {
      const [, event, data] = /^event: (.*)\ndata: (.*)$/m.exec(frame) ?? [];
      if (event === undefined || data === undefined) continue; // a comment, or a time to wait
      const { payload } = JSON.parse(data) as Pick<SessionEvent, 'payload'>;
      yield { event, payload };
    }
  }
}

/** `celestea serve` in this process. */
export class Served extends HostClient {
  readonly io: FakeIo;
  /** Ends it as Ctrl-C does, and gives the exit code. */
  readonly end: () => Promise<number>;

  constructor(io: FakeIo, end: () => Promise<number>) {
    super(io.stdout.text);
    this.io = io;
    this.end = end;
  }
}

/** Serves a folder at a port that is free, until the test is over at the latest. */
export function serve(
  cwd: string,
  argv: readonly string[] = [],
  parts: CliParts = {},
  given: Partial<FakeIo> = {},
): Promise<Served> {
  return serveAt(cwd, ['--port=0', ...argv], parts, given);
}

/** As {@link serve}, at the port that is given, or at the usual one. */
export async function serveAt(
  cwd: string,
  argv: readonly string[],
  parts: CliParts = {},
  given: Partial<FakeIo> = {},
): Promise<Served> {
  const stop = new AbortController();
  globalThis.AbortController = unguarded;
  let tell = (): void => undefined;
  const told = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const stdout = new FakeOutput(false, (text) => {
    if (text.endsWith(LAST_LINE)) tell();
  });
  const io = fakeIo({ cwd, stdout, stopSignal: stop.signal, ...given });
  const ended = runCli(['serve', ...argv], io, parts);
  const end = (): Promise<number> => {
    stop.abort();
    return ended;
  };
  serving.add(end);
  const code = await Promise.race([told, ended]);
  if (code !== undefined) throw new Error(`ended with ${String(code)}: ${io.stderr.text}`);
  return new Served(io, end);
}

/** Serves a folder that cannot be served: the code and what was said of it. */
export async function refused(
  cwd: string,
  argv: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<{ readonly code: number; readonly stderr: string }> {
  const io = fakeIo({ cwd, env, signal: AbortSignal.abort() });
  const code = await runCli(['serve', '--port=0', '--offline', ...argv], io);
  expect(io.stdout.text).toBe('');
  return { code, stderr: io.stderr.text };
}

/** `celestea serve` as a process of its own. */
export class ServingProcess {
  readonly command: Celestea;

  constructor(folder: string, args: readonly string[], env: Record<string, string> = {}) {
    this.command = new Celestea(folder, ['serve', '--port=0', ...args], env);
  }

  /** Settles when the host is there. */
  async client(): Promise<HostClient> {
    await this.command.printed(LAST_LINE);
    return new HostClient(this.command.stdout);
  }

  /** Ends it as Ctrl-C does. */
  interrupt(signal: NodeJS.Signals = 'SIGINT'): Promise<Ended> {
    this.command.child.kill(signal);
    return this.command.ended;
  }
}
