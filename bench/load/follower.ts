import type { ClientRequest, IncomingMessage } from 'node:http';

import { isRecord } from '@celestea/core';
import { createParser, type EventSourceMessage } from 'eventsource-parser';

import { answered, lastEventOf, send } from './api.ts';
import type { TurnPlan } from './plan.ts';
import type { Address, FromReaders, ReaderOrder, Verdict } from './protocol.ts';
import { TurnCheck } from './turn-check.ts';

/** The envelope of `contracts/sse-events.json`, as far as it is looked at. */
interface Envelope {
  readonly session: string;
  readonly turn: string | null;
  readonly seq: number;
  readonly payload: Record<string, unknown>;
}

/** More faults than this say nothing more. */
const MAX_FAULTS = 5;

/** Follows a session over a connection of its own and checks what comes. */
export class Follower {
  readonly order: ReaderOrder;
  readonly #tell: (message: FromReaders) => void;
  #response: IncomingMessage | null = null;
  /** The seq that comes next. */
  #next: number;
  #check: TurnCheck | null = null;
  #turn: string | null = null;
  #startedAt = 0;
  #faults: string[] = [];
  #events = 0;
  #bytes = 0;
  #lagged = 0;
  #interrupted: string | null = null;
  #hasBegun = false;
  /** Whether it stalled, and has told what came of that. */
  #isResumed = false;
  #isLeaving = false;

  constructor(order: ReaderOrder, tell: (message: FromReaders) => void) {
    this.order = order;
    this.#tell = tell;
    this.#next = (order.lastEventId ?? -1) + 1;
  }

  /** Settles when the first bytes are there, from which on no event can be missed. */
  async open(address: Address): Promise<void> {
    const { session, lastEventId } = this.order;
    const sent = send(address, 'GET', `/sessions/${session}/events`);
    if (lastEventId !== null) sent.setHeader('last-event-id', String(lastEventId));
    sent.end();
    const response = await answered(sent);
    this.#response = response;
    await this.#read(sent, response);
    if (lastEventId === null) this.#next = (await lastEventOf(address, session)) + 1;
  }

  /** The turn that is started next. */
  expect(plan: TurnPlan): void {
    this.#check = new TurnCheck(plan);
    this.#turn = null;
    this.#faults = [];
    this.#events = 0;
    this.#bytes = 0;
    this.#startedAt = performance.now();
  }

  resume(): void {
    this.#response?.resume();
  }

  /** Settles when the connection is closed. */
  leave(): Promise<void> {
    this.#isLeaving = true;
    const response = this.#response;
    if (response === null || response.closed) return Promise.resolve();
    return new Promise((resolve) => {
      response.once('close', resolve).destroy();
    });
  }

  /** Settles with the first bytes. */
  #read(sent: ClientRequest, response: IncomingMessage): Promise<void> {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const parser = createParser({
      onEvent: (frame) => {
        this.#onFrame(frame);
      },
    });
    sent.on('error', ignore); // what breaks off is told of below
    response.on('error', ignore);
    response.on('close', () => {
      if (!this.#isLeaving) this.#onCut();
    });
    return new Promise((resolve) => {
      response.on('data', (chunk: Buffer) => {
        if (!this.#hasBegun && this.order.stalls) response.pause();
        this.#hasBegun = true;
        this.#bytes += chunk.length;
        parser.feed(decoder.decode(chunk, { stream: true }));
        resolve();
      });
    });
  }

  #onFrame({ id, event: name = '', data }: EventSourceMessage): void {
    const envelope = JSON.parse(data) as Envelope;
    const { seq, session, turn, payload } = envelope;
    this.#events += 1;
    if (Number(id) !== seq) this.#fault(`the id ${String(id)} of event ${String(seq)}`);
    if (session !== this.order.session) this.#fault(`an event of session ${session}`);
    if (name === 'status' && payload['phase'] === 'lagged') {
      this.#onLag(envelope);
      return;
    }
    if (seq !== this.#next) this.#fault(`event ${String(seq)} instead of ${String(this.#next)}`);
    this.#next = seq + 1;
    if (turn === null) this.#onHostStatus(payload);
    else this.#onTurnEvent(name, turn, payload);
  }

  #onLag({ seq, payload }: Envelope): void {
    const { stalls, lastEventId } = this.order;
    if (!stalls && lastEventId === null) this.#fault('told that it lagged, which it did not');
    if (!isRecord(payload['snapshot'])) this.#fault('no snapshot');
    if (seq < this.#next) this.#fault(`lagged back from ${String(this.#next)} to ${String(seq)}`);
    this.#lagged += 1;
    this.#next = seq + 1;
    if (!stalls) return;
    if (!this.#isResumed) this.#tellLag([]);
    this.#check = null; // the rest of that turn is what was missed
  }

  #tellLag(more: readonly string[]): void {
    this.#isResumed = true;
    this.#faults.push(...more);
    this.#tell({ kind: 'lagged', index: this.order.index, faults: this.#allFaults() });
  }

  #onTurnEvent(name: string, turn: string, payload: Record<string, unknown>): void {
    if (this.#turn === null && payload['phase'] === 'start') this.#turn = turn;
    if (turn !== this.#turn) this.#fault(`${name} of ${turn} in ${String(this.#turn)}`);
    this.#check?.see(name, payload);
  }

  /** What belongs to no turn: how one ended, and that one was interrupted. */
  #onHostStatus(payload: Record<string, unknown>): void {
    const { phase, turn, usage } = payload;
    if (phase === 'interrupted' && typeof turn === 'string') {
      this.#interrupted = turn;
      return;
    }
    if (this.#check === null) return;
    if (turn !== this.#turn || usage === undefined) this.#fault(`a status ${String(phase)}`);
    this.#check.end();
    if (this.order.stalls && !this.#isResumed) this.#tellLag(['read all of a turn, never lagged']);
    else this.#tell({ kind: 'ended', verdict: this.#verdict() });
    this.#check = null;
  }

  #onCut(): void {
    this.#tell({ kind: 'cut', verdict: this.#verdict() });
    if (this.#check?.plan.fate !== 'completes') return;
    this.#fault('the stream broke off');
    this.#tell({ kind: 'ended', verdict: this.#verdict() });
  }

  #verdict(): Verdict {
    return {
      index: this.order.index,
      wave: this.#check?.plan.wave ?? -1,
      faults: this.#allFaults(),
      events: this.#events,
      bytes: this.#bytes,
      ms: performance.now() - this.#startedAt,
      answered: this.#check?.answered ?? [],
      lagged: this.#lagged,
      interrupted: this.#interrupted,
      turn: this.#turn,
      lastEventId: this.#next - 1,
    };
  }

  #allFaults(): string[] {
    const faults = [...this.#faults, ...(this.#check?.faults ?? [])].slice(0, MAX_FAULTS);
    return faults.map((fault) => `reader ${String(this.order.index)}: ${fault}`);
  }

  #fault(what: string): void {
    this.#faults.push(what);
  }
}

function ignore(): void {
  // a stream that breaks off closes, too
}
