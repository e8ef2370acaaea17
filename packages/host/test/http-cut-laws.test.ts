import {
  done,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  think,
  thinkSigned,
  type Script,
} from '@celestea/agent-loop/testing';
import type { ToolCall, ToolRegistry } from '@celestea/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { withHost, type TestHost } from './http-support.ts';
import { Transcript, type Item } from './transcript.ts';

interface Part {
  readonly kind: 'text' | 'thinking' | 'signed';
  readonly text: string;
}

interface Step {
  readonly parts: readonly Part[];
  /** How many tools the reply calls, side by side. */
  readonly calls: number;
  /** Whether what the reply comes to is what was streamed. */
  readonly comesTo: 'the same' | 'more' | 'nothing';
}

interface Plan {
  readonly steps: readonly Step[];
  readonly end: 'words' | 'broken off' | 'thrown' | 'cancelled';
  readonly lastParts: readonly Part[];
  /** How long the model and the tools wait at each moment. */
  readonly waits: readonly number[];
  /** At which moments somebody speaks up. */
  readonly steers: readonly number[];
  readonly visitors: readonly Visitor[];
}

/** Somebody who comes a little after a moment and reads pages of so many rows. */
interface Visitor {
  readonly moment: number;
  readonly late: number;
  /** Whether the turn waits at that moment until it knows how things stand. */
  readonly isAwaited: boolean;
  readonly limit: number;
}

const parts: fc.Arbitrary<Part[]> = fc.array(
  fc.record({
    kind: fc.constantFrom<Part['kind'][]>('text', 'text', 'thinking', 'signed'),
    text: fc.constantFrom('a', 'bc ', 'ü', '\n', ''),
  }),
  { maxLength: 5 },
);

const moment = fc.nat(25);

const plans: fc.Arbitrary<Plan> = fc.record({
  steps: fc.array(
    fc.record({
      parts,
      calls: fc.integer({ min: 1, max: 3 }),
      comesTo: fc.constantFrom<Step['comesTo'][]>('the same', 'more', 'nothing'),
    }),
    { maxLength: 3 },
  ),
  end: fc.constantFrom<Plan['end'][]>('words', 'broken off', 'thrown', 'cancelled'),
  lastParts: parts,
  waits: fc.array(fc.nat(3), { minLength: 1, maxLength: 5 }),
  steers: fc.array(moment, { maxLength: 2 }),
  visitors: fc.array(
    fc.record({
      moment,
      late: fc.nat(12),
      isAwaited: fc.boolean(),
      limit: fc.integer({ min: 1, max: 4 }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
});

/** The moments of a turn: before each event of the model, and in each tool. */
class Moments {
  readonly #plan: Plan;
  #count = 0;
  onMoment: (moment: number) => unknown = () => undefined;

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  readonly pass = async (): Promise<void> => {
    const moment = this.#count;
    this.#count += 1;
    await this.onMoment(moment);
    const { waits } = this.#plan;
    await hops(waits[moment % waits.length] ?? 0);
  };
}

/** Lets others go on for a while. */
async function hops(count: number): Promise<void> {
  for (let hop = 0; hop < count; hop += 1) {
    if (hop % 3 === 2) await new Promise((resolve) => setImmediate(resolve));
    else await Promise.resolve();
  }
}

const eventOf = ({ kind, text }: Part): Script =>
  kind === 'text'
    ? [{ kind, text }]
    : [kind === 'thinking' ? think(text) : thinkSigned(text, { by: 'provider' })];

const wordsOf = (some: readonly Part[]): string =>
  some.map(({ kind, text }) => (kind === 'text' ? text : '')).join('');

function scriptsOf(plan: Plan, moments: Moments, cancel: () => unknown): Script[] {
  const streamed = (some: readonly Part[]): Script =>
    [...some.flatMap((part) => [moments.pass, ...eventOf(part)]), moments.pass];
  const steps = plan.steps.map(({ parts: some, calls, comesTo }, step): Script => {
    const called = Array.from({ length: calls }, (_, index): ToolCall => {
      const id = `call-${String(step)}-${String(index)}`;
      return { id, name: 'work', args: { index } };
    });
    const words = wordsOf(some);
    const text = { 'the same': words, more: `${words}!`, nothing: '' }[comesTo];
    return [...streamed(some), done(text, ...called)];
  });
  const last = streamed(plan.lastParts);
  const tear = (): never => {
    throw new Error('torn');
  };
  const ends: Record<Plan['end'], Script> = {
    words: [...last, done(wordsOf(plan.lastParts))],
    'broken off': last,
    thrown: [...last, tear],
    cancelled: [...last, cancel, moments.pass, done('too late')],
  };
  const answers = Array.from({ length: 9 }, () => say('More.'));
  return [say('Before.'), ...steps, ends[plan.end], ...answers];
}

/** All pages with rows before a place, from the last to the first. */
async function rowsBefore(
  host: TestHost,
  id: string,
  rows: number,
  limit: number,
): Promise<Item[]> {
  const read: Item[] = [];
  let before: number | null = rows;
  while (before !== null) {
    const query = new URLSearchParams({ before: String(before), limit: String(limit) });
    const path = `/api/sessions/${id}/messages?${query.toString()}`;
    const { body } = await host.get(path);
    read.unshift(...(body['messages'] as Item[]));
    before = body['previous'] as number | null;
  }
  return read;
}

/** Somebody who comes while the turn runs, and does as the README says. */
class Visit {
  readonly #host: TestHost;
  readonly #id: string;
  /** Settles when it knows how things stand. */
  readonly stands: Promise<Record<string, unknown>>;
  readonly seen: Promise<Transcript>;

  constructor(host: TestHost, id: string, { late, limit }: Pick<Visitor, 'late' | 'limit'>) {
    this.#host = host;
    this.#id = id;
    this.stands = hops(late).then(async () => (await host.get(`/api/sessions/${id}`)).body);
    this.seen = this.stands.then((state) => this.#see(state, limit));
  }

  async #see(state: Record<string, unknown>, limit: number): Promise<Transcript> {
    const { rows, running, last_event_id: last } = state;
    const seen = new Transcript();
    seen.addRows(await rowsBefore(this.#host, this.#id, Number(rows), limit));
    const { reply } = (running ?? {}) as { reply?: Transcript['cameTo'] };
    if (reply !== undefined) seen.addReply(reply);
    const ends = seen.items.filter(({ kind }) => kind === 'turn_end').length;
    if (reply === undefined && ends === 2) return seen; // it came too late for events
    const reader = await this.#host.events(this.#id, Number(last));
    for (const event of await reader.untilEnd('turn-1')) seen.addEvent(event);
    await reader.close();
    return seen;
  }
}

/** What a turn looks like to those who come while it runs, beside who was there all the time. */
async function runTurn(host: TestHost, plan: Plan, moments: Moments, id: string) {
  await host.wholeTurn(id, 'earlier');
  const { body } = await host.get(`/api/sessions/${id}`);
  const reader = await host.events(id, Number(body['last_event_id']));
  const whole = new Transcript();
  whole.addRows(await rowsBefore(host, id, Number(body['rows']), 100));
  const visits = [new Visit(host, id, { late: 0, limit: 2 })];
  const said: Promise<unknown>[] = [];
  moments.onMoment = async (now) => {
    if (plan.steers.includes(now)) {
      said.push(host.post(`/api/sessions/${id}/steer`, { input: `at ${String(now)}` }));
    }
    const here = plan.visitors.filter(({ moment }) => moment === now);
    const begun = here.map((visitor) => ({ visitor, visit: new Visit(host, id, visitor) }));
    visits.push(...begun.map(({ visit }) => visit));
    const awaited = begun.filter(({ visitor }) => visitor.isAwaited);
    await Promise.all(awaited.map(({ visit }) => visit.stands));
  };
  await host.turn(id, 'go');
  for (const event of await reader.untilEnd('turn-1')) whole.addEvent(event);
  await reader.close();
  await Promise.all(said);
  return { whole, seen: await Promise.all(visits.map(({ seen }) => seen)) };
}

test('whoever comes at any moment of a turn sees all of it, and nothing twice', async () => {
  const kinds = new Set<unknown>();
  const caught = { thinking: 0, text: 0 };
  await fc.assert(
    fc.asyncProperty(plans, async (plan) => {
      const moments = new Moments(plan);
      let cancel = (): Promise<unknown> => Promise.resolve();
      const work = async (args: unknown): Promise<unknown> => {
        await moments.pass();
        return args;
      };
      const tools = (): ToolRegistry => new FakeToolRegistry({ work });
      const llm = new ScriptedLlm(scriptsOf(plan, moments, () => cancel()));
      const limits = { requestsPerMinute: 1_000_000, streams: 1000 };
      await withHost({ llm, tools, limits }, async (host) => {
        const id = await host.session();
        cancel = () => host.post(`/api/sessions/${id}/cancel`);
        const { whole, seen } = await runTurn(host, plan, moments, id);
        const written = new Transcript();
        written.addRows(await rowsBefore(host, id, 1_000_000, 3));
        expect(whole.items).toEqual(written.items);
        for (const { items, streamed, cameTo } of seen) {
          expect(items).toEqual(whole.items);
          const known = [...streamed].map(([event]) => [event, whole.streamed.get(event)]);
          expect([...streamed]).toEqual(known);
          if (cameTo.text !== '') caught.text += 1;
          if (cameTo.thinking !== '') caught.thinking += 1;
        }
        for (const { kind } of whole.items) kinds.add(kind);
      });
    }),
    { numRuns: 80 },
  );
  const all = ['assistant', 'thinking', 'tool_call', 'tool_result', 'turn_end', 'user'];
  expect([...kinds].sort()).toEqual(all);
  expect(Math.min(caught.text, caught.thinking)).toBeGreaterThan(0);
});
