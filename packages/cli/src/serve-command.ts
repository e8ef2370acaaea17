import { errorMessage } from '@celestea/agent-loop';
import type { Host, HostOptions, ServedHost } from '@celestea/host';

import { agentConfigOf, timeoutsOf } from './agent-config.ts';
import type { ServeCommand } from './args.ts';
import type { CliParts } from './cli-parts.ts';
import { complain, refuse, remark, type Refusal } from './complain.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import type { CliIo } from './io.ts';
import { ModelNotices, noticeLine } from './model-notices.ts';
import { openModel, type OpenedModel } from './open-model.ts';
import { pathFrom, typedInFolder } from './places.ts';
import { safeLine } from './safe-text.ts';
import { findToken } from './serve-token.ts';
import { makeSessionFolder, sessionFolder } from './session-folder.ts';
import { createStyle, wantsColours } from './style.ts';
import { checkRoot, openToolSet, rootOf, type ToolSet } from './tool-set.ts';

/** Where a host listens when no port was given. */
const USUAL_PORT = 7717;
/** A page asks for more than a person does: several sessions side by side, and all of them anew. */
const REQUESTS_PER_MINUTE = 3000;
/** Its servers are shared by all sessions for days: one that dies now and then is started again. */
const SERVER_RESTARTS = { restarts: 3, restartWindowMs: 10 * 60_000 };
const LONGEST_LINE = 400;

/**
 * Opens a host over the files and the sessions of a folder, says on `io.stdout` where it is, and
 * closes it when `io.stopSignal` aborts. Turns that run then are cancelled.
 */
export async function runServe(
  command: ServeCommand,
  io: CliIo,
  parts: CliParts,
): Promise<ExitCode> {
  const typedIn = typedInFolder(io);
  const place = { root: command.root, typedIn };
  const badRoot = checkRoot(place);
  if (badRoot !== null) return refuse(io.stderr, badRoot);
  const found = findToken(command.serve.tokenFile, { env: io.env, typedIn, root: rootOf(place) });
  if (!found.ok) return refuse(io.stderr, found);
  const signal = stopSignalOf(io);
  const model = await openModel(command, parts, {
    env: io.env,
    signal,
    attachments: { read: () => Promise.resolve(null) },
    notices: noticesOf(io),
  });
  if (!model.ok) return refuse(io.stderr, model);
  const opened = await openToolSet(command.tools, { ...place, signal, restarts: SERVER_RESTARTS });
  if (!opened.ok) return refuse(io.stderr, opened);
  const { root, tools } = opened;
  try {
    const { token } = found;
    const served = await openHost({ command, io, root, tools, model, token });
    if (!served.ok) return refuse(io.stderr, served);
    sayWhere(served, model, root, io);
    await aborted(signal);
    return await closeHost(served.server, io);
  } finally {
    await tools.close();
  }
}

/** What a host is opened with. */
interface HostParts {
  readonly command: ServeCommand;
  readonly io: CliIo;
  readonly root: string;
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
  const { io, root, command } = parts;
  // eslint-disable-next-line no-restricted-syntax -- all other commands do without what it loads
  const { builtPageFolder, createHost, hostLogger, serveHost } = await import('@celestea/host');
  let folder: string;
  try {
    folder = makeSessionFolder(root);
  } catch (error) {
    return failed(`sessions cannot be kept: ${errorMessage(error)}`);
  }
  const { port, logLevel } = command.serve;
  const log = hostLogger(io.stderr, logLevel);
  const page = builtPageFolder();
  const host = createHost({ ...hostOptions(parts, folder), log, page });
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

function hostOptions(parts: HostParts, folder: string): HostOptions {
  const { tools, model, token } = parts;
  const { limits } = parts.command;
  return {
    folder,
    parts: {
      llm: model.model.llm,
      tools: (desk) => tools.registryFor(desk),
      config: agentConfigOf(model.model.name, limits),
      timeouts: timeoutsOf(limits, model),
    },
    ...(token === null ? {} : { token }),
    limits: { requestsPerMinute: REQUESTS_PER_MINUTE },
  };
}

/** The one place where the token is shown. */
function sayWhere(
  { host, server, hasPage }: OpenedHost,
  { model }: OpenedModel,
  root: string,
  io: CliIo,
): void {
  const { dim, bold } = createStyle(wantsColours(io));
  const sessions = pathFrom(typedInFolder(io), sessionFolder(root));
  const line = (name: string, text: string): string => `${dim(name.padEnd(10))}${text}\n`;
  io.stdout.write(
    line('model', safeLine(model.name, LONGEST_LINE)) +
      line('folder', safeLine(root, LONGEST_LINE)) +
      line('sessions', safeLine(sessions, LONGEST_LINE)) +
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
  notices.listen((notice) => {
    if (notice.kind !== 'answer') remark(io, noticeLine(notice));
  }, '');
  return notices;
}

const stopSignalOf = ({ signal, stopSignal = signal }: CliIo): AbortSignal => stopSignal;

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      signal.removeEventListener('abort', done);
      resolve();
    };
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}

const failed = (error: string): Refusal => ({ ok: false, code: EXIT.failed, error });
