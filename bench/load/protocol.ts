import type { TurnPlan } from './plan.ts';

/** Where a server is and what it wants to be shown. */
export interface Address {
  readonly port: number;
  readonly token: string;
}

/** What a server process is started with. */
export interface ServerSettings {
  readonly folder: string;
  readonly runsFile: string;
  readonly token: string;
  readonly paceMs: number;
  readonly toolMs: number;
  /** Streams and requests that have to be possible. */
  readonly streams: number;
  readonly ringBytes: number;
}

/** What a server uses; bytes, unless it says otherwise. */
export interface Usage {
  readonly rss: number;
  readonly heap: number;
  readonly arrayBuffers: number;
  /** Most that is queued for one reader. */
  readonly queued: number;
}

/** What a server is asked for at a moment. */
export interface Measurement {
  /** After a garbage collection. */
  readonly now: Usage;
  /** The most of each since it was last asked. */
  readonly peak: Usage;
  /** Open descriptors; 0 where the platform does not say. */
  readonly sockets: number;
  readonly logs: number;
  readonly others: number;
  /** Of the processor since it was last asked, in milliseconds. */
  readonly cpuMs: number;
  /** The 99th percentile of how late the event loop was since it was last asked, in ms. */
  readonly lateMs: number;
}

export type ToServer = { readonly kind: 'measure' } | { readonly kind: 'close' };

export type FromServer =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'measured'; readonly measurement: Measurement }
  /** The turn of that session is where the server may die. */
  | { readonly kind: 'stands'; readonly index: number }
  /** The host is closed; the process ends next. */
  | { readonly kind: 'closed'; readonly measurement: Measurement };

/** A reader of one session. */
export interface ReaderOrder {
  /** Of the session, from 0. */
  readonly index: number;
  readonly session: string;
  /** Whether it stops reading after the first bytes, until it is told to go on. */
  readonly stalls: boolean;
  /** The last event it saw in a former life of the server; it expects to be told that it lagged. */
  readonly lastEventId: number | null;
}

export type ToReaders =
  | { readonly kind: 'follow'; readonly address: Address; readonly readers: readonly ReaderOrder[] }
  /** The turns that are started next. */
  | { readonly kind: 'expect'; readonly plans: readonly TurnPlan[] }
  /** Those that stall go on. */
  | { readonly kind: 'resume' }
  | { readonly kind: 'leave' };

/** What a reader has to say of a turn. */
export interface Verdict {
  readonly index: number;
  readonly wave: number;
  /** Empty when all was as it had to be. */
  readonly faults: readonly string[];
  readonly events: number;
  readonly bytes: number;
  /** From its start to its last event, in milliseconds. */
  readonly ms: number;
  /** Calls whose result was seen. */
  readonly answered: readonly string[];
  /** How often it was told that it lagged, since it follows. */
  readonly lagged: number;
  /** The turn of which it was told that it was interrupted, since it follows. */
  readonly interrupted: string | null;
  readonly turn: string | null;
  readonly lastEventId: number;
}

export type FromReaders =
  | { readonly kind: 'following' | 'expecting' | 'left' }
  /** A turn was followed to its last event. */
  | { readonly kind: 'ended'; readonly verdict: Verdict }
  /** A reader was told that it lagged; the faults are those of what it had read until then. */
  | { readonly kind: 'lagged'; readonly index: number; readonly faults: readonly string[] }
  /** The stream broke off. */
  | { readonly kind: 'cut'; readonly verdict: Verdict };
