import { randomBytes } from 'node:crypto';

import { expectThat, isRecord } from '@celestea/core';
import { pino, type Logger } from 'pino';

import type { EventRingOptions } from '../events/index.ts';
import { LOG_LEVELS, type HostFault } from '../observe/index.ts';
import { checkLiveSessionParts, MAX_TIMER_MS, type LiveSessionParts } from '../sessions/index.ts';
import { isHostEntry } from './host-names.ts';
import { builtPageFolder, holdsPage } from './page-folder.ts';

/** How much a host lets be asked of it. */
export interface HostLimits {
  /** Most bytes of a request's body; 1 MiB unless given. */
  readonly bodyBytes?: number | undefined;
  /** Requests a minute; 600 unless given. */
  readonly requestsPerMinute?: number | undefined;
  /** Streams of events at a time; 32 unless given. */
  readonly streams?: number | undefined;
  /** Sessions that stay open though nothing runs in them; 16 unless given. */
  readonly openSessions?: number | undefined;
}

/** What a host is made with. */
export interface HostOptions {
  /** Where the sessions are kept. Keep it out of the folder that the agent works in. */
  readonly folder: string;
  /** What turns are made of. */
  readonly parts: LiveSessionParts;
  /**
   * What callers have to show: 16 to 256 of letters, digits and `-._~`. 32 random bytes unless
   * given.
   */
  readonly token?: string | undefined;
  /**
   * Names by which the host may be asked beside the loopback ones, such as `agent.example`,
   * with a port or for all ports.
   */
  readonly allowedHosts?: readonly string[] | undefined;
  readonly limits?: HostLimits | undefined;
  /** A stream that is quiet sends a sign of life so often, in milliseconds; 15,000 unless given. */
  readonly heartbeatMs?: number | undefined;
  /** What is kept of each session for readers that come back. */
  readonly ring?: EventRingOptions | undefined;
  /** Told of what was answered with a 500, which says nothing. What it throws disturbs nobody. */
  readonly onFault?: ((error: unknown, fault: HostFault) => void) | undefined;
  /**
   * The folder of a built page, `index.html` and `assets/` in it, read once when the host is
   * made; `null` for none. Unless given, the one that was built with this package, if it was.
   */
  readonly page?: string | null | undefined;
  /**
   * Where lines are written of what the host does: requests at `debug`, turns and approvals at
   * `info`, diagnostics and readers that lagged at `warn`, what was answered with a 500 at
   * `error`. Unless given, none are.
   */
  readonly log?: Logger | undefined;
}

/** The same options, each with its value. */
type Known<Options> = {
  readonly [Name in keyof Options]-?: Exclude<Options[Name], undefined>;
};

/** The options of a host, each with its value. */
export type CheckedHostOptions = Known<Omit<HostOptions, 'limits'> & HostLimits>;

/** What stands in a header, a cookie and a query as it is. */
const TOKEN = /^[A-Za-z0-9._~-]{16,256}$/;

/** Throws a `TypeError` that names the option that is not what it has to be. */
export function checkHostOptions(options: HostOptions): CheckedHostOptions {
  expectThat(isRecord(options), 'options', 'an object', options);
  const { folder, parts, allowedHosts = [], limits = {}, ring = {} } = options;
  const { token = randomBytes(32).toString('base64url') } = options;
  const { heartbeatMs = 15_000, onFault = () => undefined, log = NO_LOG } = options;
  expectThat(typeof folder === 'string' && folder !== '', 'folder', 'a path', folder);
  checkLiveSessionParts(parts);
  checkToken(token);
  checkHosts(allowedHosts);
  expectThat(isRecord(limits), 'options.limits', 'an object', limits);
  const { bodyBytes = 1024 * 1024, requestsPerMinute = 600, streams = 32 } = limits;
  const { openSessions = 16 } = limits;
  expectWhole(bodyBytes, 'options.limits.bodyBytes');
  expectWhole(requestsPerMinute, 'options.limits.requestsPerMinute');
  expectWhole(streams, 'options.limits.streams');
  expectWhole(openSessions, 'options.limits.openSessions');
  expectWhole(heartbeatMs, 'options.heartbeatMs', 1, MAX_TIMER_MS);
  checkRing(ring);
  expectThat(typeof onFault === 'function', 'options.onFault', 'a function', onFault);
  checkLog(log);
  const page = checkedPage(options.page);
  const limited = { bodyBytes, requestsPerMinute, streams, openSessions };
  return { folder, parts, token, allowedHosts, ...limited, heartbeatMs, ring, onFault, page, log };
}

/** Says nothing of what came: it may be a secret with a fault in it. */
function checkToken(token: unknown): void {
  if (typeof token === 'string' && TOKEN.test(token)) return;
  throw new TypeError('options.token: expected 16 to 256 of letters, digits and -._~, got another');
}

function checkHosts(hosts: unknown): void {
  expectThat(Array.isArray(hosts), 'options.allowedHosts', 'an array of names', hosts);
  for (const host of hosts as readonly unknown[]) {
    expectThat(isHostEntry(host), 'options.allowedHosts', 'names such as agent.example:8080', host);
  }
}

function checkRing(ring: unknown): void {
  expectThat(isRecord(ring), 'options.ring', 'an object', ring);
  const { maxBytes = 1, maxEvents = 1 } = ring;
  expectWhole(maxBytes, 'options.ring.maxBytes');
  expectWhole(maxEvents, 'options.ring.maxEvents');
}

/** The folder of the page, `null` for none. */
function checkedPage(page: unknown): string | null {
  if (page === undefined) return builtPageFolder();
  if (page === null) return null;
  const isPage = typeof page === 'string' && holdsPage(page);
  expectThat(isPage, 'options.page', 'a folder with an index.html, or null', page);
  return page;
}

/** Writes nothing. */
const NO_LOG = pino({ enabled: false });

function checkLog(log: unknown): void {
  const isLogger = isRecord(log) && LOG_LEVELS.every((level) => typeof log[level] === 'function');
  expectThat(isLogger, 'options.log', 'a pino logger', log);
}

/** Refuses what is no whole number between the two, which belong to it. */
export function expectWhole(
  value: unknown,
  name: string,
  least = 1,
  most: number = Number.MAX_SAFE_INTEGER,
): asserts value is number {
  const fits = Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;
  const range = most === Number.MAX_SAFE_INTEGER ? '' : ` to ${String(most)}`;
  expectThat(fits, name, `a whole number from ${String(least)}${range}`, value);
}
