import { createAdaptorServer, type ServerType } from '@hono/node-server';
import { expectThat, isRecord } from '@celestea/core';

import { MAX_TIMER_MS } from '../sessions/index.ts';
import type { Host } from './create-host.ts';
import { isLoopback } from './host-names.ts';
import { expectWhole } from './host-options.ts';

/** Where a host listens. */
export interface ServeOptions {
  /** 0, unless given, is any that is free. */
  readonly port?: number | undefined;
  /** The address to listen at; 127.0.0.1 unless given. */
  readonly hostname?: string | undefined;
  /**
   * Lets others than this machine in. They come by names of `allowedHosts` alone, and without
   * TLS: put a proxy in front that has it.
   */
  readonly allowRemote?: boolean | undefined;
  /** How long connections may take to end when the server closes, in ms; 1000 unless given. */
  readonly closeMs?: number | undefined;
}

/** A host that listens. */
export interface ServedHost {
  /** Without the token: a page opens at `${url}/?token=${host.token}`. */
  readonly url: string;
  readonly address: { readonly hostname: string; readonly port: number };
  /**
   * Takes no more requests, closes the host and lets go of the port; a second call waits for
   * the first. Rejects as `close` of the host does, with the port let go of all the same.
   */
  close(): Promise<void>;
}

/** For a request whose head or body does not come, in milliseconds. */
const HEAD_MS = 10_000;
const REQUEST_MS = 60_000;

/**
 * Has a host listen.
 *
 * Throws a `TypeError` for a wrong option, such as a hostname that others can reach without
 * `allowRemote`, and rejects with what the system says when it cannot listen there.
 */
export async function serveHost(host: Host, options: ServeOptions = {}): Promise<ServedHost> {
  const { port, hostname, closeMs } = checked(host, options);
  const server = createAdaptorServer({
    fetch: (request, env) => host.app.fetch(request, env),
    overrideGlobalObjects: false,
    serverOptions: { headersTimeout: HEAD_MS, requestTimeout: REQUEST_MS },
  });
  const taken = await listen(server, port, hostname);
  host.listensAt(taken);
  const name = hostname.includes(':') ? `[${hostname}]` : hostname;
  let closing: Promise<void> | null = null;
  return {
    url: `http://${name}:${String(taken)}`,
    address: { hostname, port: taken },
    close: () => (closing ??= close(host, server, closeMs)),
  };
}

function checked(host: Host, options: ServeOptions) {
  const isHost = isRecord(host) && typeof host.close === 'function' && isRecord(host.app);
  expectThat(isHost, 'host', 'a Host of createHost', host);
  expectThat(isRecord(options), 'options', 'an object', options);
  const { port = 0, hostname = '127.0.0.1', allowRemote = false, closeMs = 1000 } = options;
  expectWhole(port, 'options.port', 0, 65_535);
  const isName = typeof hostname === 'string' && hostname !== '';
  expectThat(isName, 'options.hostname', 'an address', hostname);
  expectThat(typeof allowRemote === 'boolean', 'options.allowRemote', 'a boolean', allowRemote);
  const isLocal = allowRemote || isLoopback(hostname);
  expectThat(isLocal, 'options.hostname', 'a loopback one unless allowRemote is true', hostname);
  expectWhole(closeMs, 'options.closeMs', 0, MAX_TIMER_MS);
  return { port, hostname, closeMs };
}

function listen(server: ServerType, port: number, hostname: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, hostname, () => {
      server.off('error', reject);
      const address = server.address();
      resolve(address === null || typeof address === 'string' ? port : address.port);
    });
  });
}

/** Streams end with the host; who neither reads nor writes is cut off after a while. */
async function close(host: Host, server: ServerType, closeMs: number): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
  try {
    await host.close();
  } finally {
    const timer = setTimeout(() => {
      if ('closeAllConnections' in server) server.closeAllConnections();
    }, closeMs);
    await stopped;
    clearTimeout(timer);
  }
}
