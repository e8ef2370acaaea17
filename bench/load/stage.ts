import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { ask, createSession, isRunning } from './api.ts';
import { Child } from './child.ts';
import { inParallel } from './in-parallel.ts';
import { planText, type TurnPlan } from './plan.ts';
import type {
  Address,
  FromReaders,
  FromServer,
  Measurement,
  ReaderOrder,
  ServerSettings,
  ToReaders,
  ToServer,
  Verdict,
} from './protocol.ts';
import { RING_BYTES, type LoadSettings } from './settings.ts';

type ServerChild = Child<ToServer, FromServer>;
type ReadersChild = Child<ToReaders, FromReaders>;

/** Requests that are asked side by side. */
const WIDTH = 16;
/** How often is asked for what nobody tells, in milliseconds. */
const ASK_MS = 100;
/** After so many questions what was waited for does not come. */
const MOST_QUESTIONS = 300;

/** A server, its sessions and their readers, each in a process of its own. */
export class Stage {
  readonly folder: string;
  readonly runsFile: string;
  /** By index. */
  sessions: readonly string[] = [];
  readonly #settings: LoadSettings;
  readonly #readers: readonly ReadersChild[];
  #server: ServerChild | null = null;
  #address: Address = { port: 0, token: '' };
  /** The readers of this many sessions stall. */
  #stalled = 0;

  /** Keeps all it writes in `folder`. */
  constructor(settings: LoadSettings, folder: string) {
    this.folder = join(folder, 'sessions');
    this.runsFile = join(folder, 'runs.txt');
    this.#settings = settings;
    const processes = { length: settings.readerProcesses };
    this.#readers = Array.from(processes, () => new Child('readers.ts', {}));
  }

  /** Starts the server, also anew when the last one is dead. */
  async startServer(): Promise<void> {
    const { readers, paceMs, toolMs } = this.#settings;
    const token = randomBytes(32).toString('base64url');
    const limits = { streams: readers, ringBytes: RING_BYTES };
    const { folder, runsFile } = this;
    const settings: ServerSettings = { folder, runsFile, token, paceMs, toolMs, ...limits };
    const server: ServerChild = new Child('server.ts', settings);
    const { port } = await server.next('listening');
    this.#server = server;
    this.#address = { port, token };
  }

  async createSessions(): Promise<void> {
    const places = Array.from({ length: this.#settings.turns });
    this.sessions = await inParallel(places, WIDTH, () => createSession(this.#address));
  }

  /**
   * Opens a stream for each session that has a reader, of which the first `stalled` stop reading.
   * `lastEventIds` says what they saw in a former life of the server.
   */
  async follow(stalled: number, lastEventIds?: ReadonlyMap<number, number>): Promise<void> {
    this.#stalled = stalled;
    const orders = this.sessions.slice(0, this.#settings.readers).map((session, index) => ({
      index,
      session,
      stalls: index < stalled,
      lastEventId: lastEventIds?.get(index) ?? null,
    }));
    await this.#eachReader((child, isIts) => {
      const readers: ReaderOrder[] = orders.filter(isIts);
      child.send({ kind: 'follow', address: this.#address, readers });
      return child.next('following');
    });
  }

  /** Starts turns, all of which are expected by then. */
  async start(plans: readonly TurnPlan[]): Promise<void> {
    await this.#eachReader((child, isIts) => {
      child.send({ kind: 'expect', plans: plans.filter(isIts) });
      return child.next('expecting');
    });
    await inParallel(plans, WIDTH, (plan) => {
      const path = `/sessions/${String(this.sessions[plan.index])}/turns`;
      return ask(this.#address, 'POST', path, { input: planText(plan) });
    });
  }

  /** What the readers say of the turns of those plans, once all that they follow are over. */
  verdicts(plans: readonly TurnPlan[]): Promise<Verdict[]> {
    return this.#collect((child, isIts) => {
      const followed = plans.filter((plan) => this.#isFollowed(plan.index) && isIts(plan));
      return child.some(followed.length, 'ended').then((ended) => ended.map((one) => one.verdict));
    });
  }

  /** Has those that stall read on; gives what was wrong by the time each was told it lagged. */
  resume(): Promise<string[]> {
    const stalled = Array.from({ length: this.#stalled }, (_, index) => ({ index }));
    const lagged = this.#collect((child, isIts) => {
      const { length } = stalled.filter(isIts);
      child.send({ kind: 'resume' });
      return child.some(length, 'lagged').then((told) => told.flatMap(({ faults }) => faults));
    });
    this.#stalled = 0;
    return lagged;
  }

  /** Settles when no turn of those plans runs that no reader tells of. */
  async untilIdle(plans: readonly TurnPlan[]): Promise<void> {
    const unseen = plans.filter(({ index }) => !this.#isFollowed(index));
    await inParallel(unseen, WIDTH, async ({ index }) => {
      const session = String(this.sessions[index]);
      while (await isRunning(this.#address, session)) await pause(ASK_MS);
    });
  }

  /** Settles when so many turns are where the server may die. */
  async untilStanding(count: number): Promise<void> {
    await this.#running().some(count, 'stands');
  }

  async measure(): Promise<Measurement> {
    const server = this.#running();
    server.send({ kind: 'measure' });
    return (await server.next('measured')).measurement;
  }

  /** Closes all streams; gives what the server uses once it has noticed, or has not for long. */
  async leave(sockets: number): Promise<Measurement> {
    await this.forget();
    let measurement = await this.measure();
    for (let asked = 0; measurement.sockets > sockets && asked < MOST_QUESTIONS; asked += 1) {
      await pause(ASK_MS);
      measurement = await this.measure();
    }
    return measurement;
  }

  /** Closes what is left of the streams. */
  async forget(): Promise<void> {
    await this.#eachReader((child) => {
      child.send({ kind: 'leave' });
      return child.next('left');
    });
  }

  /** Kills the server; gives what each reader had seen. */
  async kill(): Promise<Verdict[]> {
    const server = this.#running();
    const followed = this.sessions.slice(0, this.#settings.readers).map((_, index) => ({ index }));
    server.kill();
    await server.exited;
    this.#server = null;
    return this.#collect((child, isIts) => {
      const { length } = followed.filter(isIts);
      return child.some(length, 'cut').then((cut) => cut.map(({ verdict }) => verdict));
    });
  }

  /** Closes the server; gives what it used last, how it ended and what it complained of. */
  async closeServer(): Promise<{ last: Measurement; exit: string; complaints: string }> {
    const server = this.#running();
    server.send({ kind: 'close' });
    const { measurement: last } = await server.next('closed');
    const exit = await server.exited;
    this.#server = null;
    return { last, exit, complaints: server.complaints };
  }

  /** Ends every process. */
  async end(): Promise<void> {
    const children = [...this.#readers, ...(this.#server === null ? [] : [this.#server])];
    for (const child of children) child.kill();
    await Promise.all(children.map(({ exited }) => exited));
  }

  #running(): ServerChild {
    if (this.#server === null) throw new Error('no server runs');
    return this.#server;
  }

  #isFollowed(index: number): boolean {
    return index >= this.#stalled && index < this.#settings.readers;
  }

  async #collect<Result>(
    of: (child: ReadersChild, isIts: (of: { index: number }) => boolean) => Promise<Result[]>,
  ): Promise<Result[]> {
    return (await this.#eachReader(of)).flat();
  }

  /** Each process has the readers of its share of the sessions. */
  #eachReader<Result>(
    work: (child: ReadersChild, isIts: (of: { index: number }) => boolean) => Promise<Result>,
  ): Promise<Result[]> {
    const count = this.#readers.length;
    return Promise.all(
      this.#readers.map((child, place) => work(child, ({ index }) => index % count === place)),
    );
  }
}
