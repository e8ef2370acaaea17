import { once } from 'node:events';

import { errorMessage } from '@celestea/agent-loop';
import type { Host, ServedHost } from '@celestea/host';

import { complain, EXIT, failed, refuse, remark, type ExitCode, type Refusal } from './exit.ts';
import type { CliIo, CliParts } from './io.ts';
import { ModelNotices, openModel, type OpenedModel } from './model.ts';
import type { Options } from './options.ts';
import { findPlaces, pathFrom, type Places } from './places.ts';
import { findToken } from './serve-token.ts';
import { makeSessionFolder, sessionFolder } from './session.ts';
import { styleOf } from './style.ts';
import { safeLine } from './text.ts';
import { openToolSet, type ToolSet } from './tools.ts';

/** Where a host listens when no port was given. */
const USUAL_PORT = 7717;
/** A page asks for more than a person does: several sessions side by side, and all of them anew. */
const REQUESTS_PER_MINUTE = 3000;
/** Its servers are shared by all sessions for days: one that dies now and then is started again. */
const SERVER_RESTARTS = { restarts: 3, restartWindowMs: 10 * 60_000 };

/**
 * Opens a host over the files and the sessions of a folder, says on `io.stdout` where it is, and
 * closes it when `io.stopSignal` aborts. Turns that run then are cancelled.
 */
export async function runServe(options: Options, io: CliIo, parts: CliParts): Promise<ExitCode> {
  const { env, stopSignal: signal = io.signal } = io;
  const places = findPlaces(options.root, io);
  if (!places.ok) return refuse(io.stderr, places);
  const found = findToken(options.tokenFile, env, places);
  if (!found.ok) return refuse(io.stderr, found);
  const attachments = { read: () => Promise.resolve(null) };
  const model = await openModel(options, parts, { env, signal, attachments, notices: noticesOf(io) });
  if (!model.ok) return refuse(io.stderr, model);
  const tools = await openToolSet(options, places, signal, SERVER_RESTARTS);
  if (!tools.ok) return refuse(io.stderr, tools);
  try {
    const served = await openHost({ options, io, places, tools, model, token: found.token });
    if (!served.ok) return refuse(io.stderr, served);
    sayWhere(served, model, places, io);
    if (!signal.aborted) await once(signal, 'abort');
    return await closeHost(served.server, io);
  } finally {
    await tools.close();
  }
}

/** What a host is opened with. */
interface HostParts {
  readonly options: Options;
  readonly io: CliIo;
  readonly places: Places;
  readonly tools: ToolSet;
  readonly model: OpenedModel;
  readonly token: string | null;
}

interface OpenedHost {
  readonly ok: true;
  readonly host: Host;
  readonly server: ServedHost;
  /** Whether its page was built. */
  readonly hasPage: boolean;
}

async function openHost(parts: HostParts): Promise<OpenedHost | Refusal> {
  const { io, places, tools, model, token } = parts;
  const { port, logLevel } = parts.options;
  // eslint-disable-next-line no-restricted-syntax -- all other commands do without what it loads
  const { builtPageFolder, createHost, hostLogger, serveHost } = await import('@celestea/host');
  let folder: string;
  try {
    folder = makeSessionFolder(places.root);
  } catch (error) {
    return failed(`sessions cannot be kept: ${errorMessage(error)}`);
  }
  const { llm, config, timeouts } = model;
  const page = builtPageFolder();
  const host = createHost({
    folder,
    parts: { llm, tools: (desk) => tools.registryFor(desk), config, timeouts },
    ...(token === null ? {} : { token }),
    limits: { requestsPerMinute: REQUESTS_PER_MINUTE },
    log: hostLogger(io.stderr, logLevel),
    page,
  });
  const opened = { ok: true, host, hasPage: page !== null } as const;
  try {
    return { ...opened, server: await serveHost(host, { port: port ?? USUAL_PORT }) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (port !== null) {
      await host.close();
      const why = code === 'EADDRINUSE' ? 'somebody else listens there' : errorMessage(error);
      return failed(`--port: cannot listen at ${String(port)}: ${why}`);
    }
    remark(io, `port ${String(USUAL_PORT)} cannot be had (${code ?? '?'}), so it is another one`);
    return { ...opened, server: await serveHost(host) };
  }
}

/** The one place where the token is shown. */
function sayWhere(
  { host, server, hasPage }: OpenedHost,
  { name: model }: OpenedModel,
  { root, typedIn }: Places,
  io: CliIo,
): void {
  const { dim, bold } = styleOf(io);
  const line = (name: string, text: string): string => `${dim(name.padEnd(10))}${text}\n`;
  io.stdout.write(
    line('model', safeLine(model, 400)) +
      line('folder', safeLine(root, 400)) +
      line('sessions', safeLine(pathFrom(typedIn, sessionFolder(root)), 400)) +
      line('address', bold(`${server.url}/?token=${host.token}`)) +
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
