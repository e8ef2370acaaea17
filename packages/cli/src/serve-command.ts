import { once } from 'node:events';

import { errorMessage } from '@celestea/agent-loop';
import type { Host, ServedHost, serveHost as ServeHost } from '@celestea/host';

import { complain, EXIT, failed, remark, type ExitCode } from './exit.ts';
import type { CliIo, CliParts } from './io.ts';
import { ModelNotices, openModel } from './model.ts';
import type { Options } from './options.ts';
import { findPlaces, pathFrom, type Places } from './places.ts';
import { findToken } from './serve-token.ts';
import { makeSessionFolder, sessionFolder } from './session.ts';
import { styleOf } from './style.ts';
import { safeLine } from './text.ts';
import { openToolSet } from './tools.ts';

/** Where a host listens when no port was given. */
const USUAL_PORT = 7717;
/** A page asks for more than a person does: several sessions side by side, and all of them anew. */
const REQUESTS_PER_MINUTE = 3000;
/** Its servers are shared by all sessions for days: one that dies now and then is started again. */
const SERVER_RESTARTS = { restarts: 3, restartWindowMs: 10 * 60_000 };

/**
 * Opens a host over the files and the sessions of a folder, says on `io.stdout` where it is, and
 * closes it when `io.stopSignal` aborts. Turns that run then are cancelled. Rejects with a
 * {@link Refusal} when it cannot be opened.
 */
export async function runServe(options: Options, io: CliIo, parts: CliParts): Promise<ExitCode> {
  const { env, stopSignal: signal = io.signal } = io;
  const places = findPlaces(options.root, io);
  const token = findToken(options.tokenFile, env, places);
  const attachments = { read: () => Promise.resolve(null) };
  const model = await openModel(options, parts, { env, signal, attachments, notices: noticesOf(io) });
  const tools = await openToolSet(options, places, signal, SERVER_RESTARTS);
  try {
    // eslint-disable-next-line no-restricted-syntax -- all other commands do without what it loads
    const hosts = await import('@celestea/host');
    const { llm, config, timeouts } = model;
    const page = hosts.builtPageFolder();
    const host = hosts.createHost({
      folder: sessionsIn(places),
      parts: { llm, tools: (desk) => tools.registryFor(desk), config, timeouts },
      ...(token === null ? {} : { token }),
      limits: { requestsPerMinute: REQUESTS_PER_MINUTE },
      log: hosts.hostLogger(io.stderr, options.logLevel),
      page,
    });
    const server = await listen(host, options.port, io, hosts.serveHost);
    const address = `${server.url}/?token=${host.token}`; // nowhere else the token is shown
    sayWhere(io, places, { model: model.name, address, hasPage: page !== null });
    if (!signal.aborted) await once(signal, 'abort');
    return await closeHost(server, io);
  } finally {
    await tools.close();
  }
}

function sessionsIn({ root }: Places): string {
  try {
    return makeSessionFolder(root);
  } catch (error) {
    throw failed(`sessions cannot be kept: ${errorMessage(error)}`);
  }
}

async function listen(
  host: Host,
  port: number | null,
  io: CliIo,
  serveHost: typeof ServeHost,
): Promise<ServedHost> {
  try {
    return await serveHost(host, { port: port ?? USUAL_PORT });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (port !== null) {
      await host.close();
      const why = code === 'EADDRINUSE' ? 'somebody else listens there' : errorMessage(error);
      throw failed(`--port: cannot listen at ${String(port)}: ${why}`);
    }
    remark(io, `port ${String(USUAL_PORT)} cannot be had (${code ?? '?'}), so it is another one`);
    return serveHost(host);
  }
}

function sayWhere(
  io: CliIo,
  { root, typedIn }: Places,
  { model, address, hasPage }: { model: string; address: string; hasPage: boolean },
): void {
  const { dim, bold } = styleOf(io);
  const line = (name: string, text: string): string => `${dim(name.padEnd(10))}${text}\n`;
  io.stdout.write(
    line('model', safeLine(model, 400)) +
      line('folder', safeLine(root, 400)) +
      line('sessions', safeLine(pathFrom(typedIn, sessionFolder(root)), 400)) +
      line('address', bold(address)) +
      (hasPage ? '' : line('page', 'not built: the address says how to use the API')) +
      `${dim('ctrl-c ends it')}\n`,
  );
}

async function closeHost(server: ServedHost, io: CliIo): Promise<ExitCode> {
  try {
    await server.close();
    return EXIT.completed;
  } catch (error) {
    complain(io.stderr, errorMessage(error));
    return EXIT.failed;
  }
}

/** What a model tells beside its replies; it does not say in which session. */
function noticesOf(io: CliIo): ModelNotices {
  const notices = new ModelNotices();
  notices.listen(({ phase, line }) => {
    if (phase !== 'answer' && line !== null) remark(io, line);
  }, '');
  return notices;
}
