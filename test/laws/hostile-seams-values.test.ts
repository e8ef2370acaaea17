import { describe, expect, test } from 'vitest';

import { RETENTION_SERVICE } from '@celestea/agent-loop';
import { assertLogValid, done, say } from '@celestea/agent-loop/testing';
import {
  AgentError,
  defaultAgentConfig,
  zeroUsage,
  type ImageRef,
  type Message,
  type ModelRequest,
  type StreamEvent,
  type ToolInput,
  type TurnOutcome,
} from '@celestea/core';

import { call, type Settled } from '../support/turn.ts';
import { passedOffAs } from './hostile-behaviours.ts';
import { drive, label, watched } from './hostile-drive.ts';
import {
  EVENT_VALUES,
  INJECTION_VALUES,
  ODDS,
  OUTPUT_VALUES,
  REQUEST_VALUES,
  SPILL_VALUES,
  UNSENDABLE,
  VALUES,
  withField,
  type EventField,
  type EventPlace,
  type Odd,
  type ValuePlace,
} from './hostile-values.ts';
import { World } from './hostile-world.ts';

const WHOLE: readonly string[] = [
  ...['ctx', 'userInput', 'bindings', 'turn options', 'config', 'retention'],
  ...['event', 'block', 'item'],
];

/** Every row of a table with every odd value. */
function tests<Place extends string, Verdict>(
  table: Record<Place, (odd: Odd) => Verdict>,
  check: (place: Place, odd: Odd, verdict: Verdict) => Promise<void>,
): void {
  for (const [name, verdict] of Object.entries(table)) {
    const place = name as Place;
    const verdictOf = verdict as (odd: Odd) => Verdict;
    for (const odd of ODDS) {
      if (odd.getter === true && WHOLE.includes(place)) continue; // no field to put it into
      test(`${place} is ${odd.name}`, () => check(place, odd, verdictOf(odd)));
    }
  }
}

/** Runs the turn, and another one on its log; says how the first ended. */
async function play(world: World, heard = true): Promise<Settled> {
  const { end, after } = await watched(() => drive(world));
  expect(after).toBe('nothing');
  const { rows } = world.log;
  assertLogValid(rows);
  const kinds = world.events.map(({ kind }) => kind);
  const ends = rows.filter(({ type }) => type === 'turn_end').length;
  if (heard) {
    expect(kinds.filter((kind) => kind === 'turn_end')).toHaveLength(ends);
    expect(kinds.at(-1)).toBe(ends > 0 ? 'turn_end' : undefined);
  }
  return end;
}

async function playOn(world: World): Promise<void> {
  expect(await world.runNext(), 'the next turn').toBe('completed');
  assertLogValid(world.log.rows);
}

const outcomeOf = (end: Settled): string => {
  if ('error' in end) throw new Error('it rejected', { cause: end.error });
  return label(end.resolved as TurnOutcome);
};

const IMAGE: ImageRef = {
  attachment_id: 'ab'.repeat(32),
  media_type: 'image/png',
  width: 2,
  height: 3,
};

/** Puts an odd value where the name says. */
function place(world: World, name: ValuePlace, odd: Odd, via: 'bindings' | 'options'): void {
  const [group, field] = name.split('.');
  const given = via === 'options' ? 'turn options' : 'bindings';
  switch (group) {
    case 'option':
      world.given.set(given, withField(world.options(), String(field), odd));
      return;
    case 'timeouts': {
      const timeouts = withField({}, String(field), odd);
      world.given.set(given, { ...world.options(), timeouts });
      return;
    }
    case 'image': {
      const image = withField(IMAGE, String(field), odd);
      world.given.set('turn options', { ...world.options(), attachments: [image] });
      return;
    }
    case 'retention': {
      const policy = world.services.get(RETENTION_SERVICE) as object;
      const value = field === undefined ? odd.value : withField(policy, field, odd);
      world.services.set(RETENTION_SERVICE, value);
      return;
    }
    case 'config': {
      const config = defaultAgentConfig();
      const value = field === undefined ? odd.value : withField(config, field, odd);
      world.given.set('config', value);
      return;
    }
    default:
      world.given.set(passedOffAs(group), odd.value);
  }
}

/** A refusal names the place, or the part of it that does not fit. */
function refusalOf(name: ValuePlace): RegExp {
  if (name.startsWith('image.')) return /^attachments: expected/;
  if (name === 'turn options') return /^(turn options|attachments): expected/;
  const shown = name.replace('option.', '').replace('.', '\\.');
  return new RegExp(`^${shown}(\\.\\w+)?: expected`);
}

describe('X1 options, bindings and arguments', () => {
  tests(VALUES, async (name, odd, taken) => {
    const ways = name.startsWith('option.') || name.startsWith('timeouts.');
    for (const via of ways ? (['options', 'bindings'] as const) : (['options'] as const)) {
      if (via === 'bindings' && name === 'option.attachments') continue;
      const world = new World(via);
      place(world, name, odd, via);
      const heard = !(taken === 'fits' && (name === 'turn options' || name === 'option.sink'));
      const end = await play(world, heard);
      if (taken === 'fits') {
        const sendable = !UNSENDABLE.includes(`${name} is ${odd.name}`);
        expect(outcomeOf(end)).toBe(sendable ? 'completed' : 'generate');
      } else {
        expect(world.log.rows).toEqual([]);
        expect(world.events).toEqual([]);
        const error = 'error' in end ? end.error : null;
        expect(error).toBeInstanceOf(taken === 'refused' ? TypeError : Error);
        expect(error).not.toBeInstanceOf(AgentError);
        const message = error instanceof Error ? error.message : '';
        if (taken === 'refused') expect(message).toMatch(refusalOf(name));
      }
      await playOn(world);
    }
  });
});

/** The message of a done event whose one call has an odd field. */
const callMessage = (field: string, odd: Odd): object => {
  const { message } = done('') as { message: Message };
  return { ...message, content: [{ type: 'tool_call', content: withField(call('a'), field, odd) }] };
};

/** A stream's events with one odd part. */
function eventsWith(name: EventPlace | EventField, odd: Odd): unknown[] {
  const { message } = done('noon') as { message: Message };
  const usage = { kind: 'usage', usage: zeroUsage() };
  const [group = '', field = ''] = name.split('.');
  switch (group) {
    case 'event':
      return [field === '' ? odd.value : withField({ text: 'hm' }, field, odd), ...say('noon')];
    case 'text':
    case 'thinking':
      return [withField({ kind: group, text: 'hm' }, field, odd), ...say('noon')];
    case 'usage':
      return [withField(usage, field, odd), ...say('noon')];
    case 'counters':
      return [{ ...usage, usage: withField(zeroUsage(), field, odd) }, ...say('noon')];
    case 'done':
      return [withField({ kind: 'done', message }, field, odd)];
    case 'message':
      return [{ kind: 'done', message: withField(message, field, odd) }];
    case 'block': {
      const text = { type: 'text', content: 'noon' };
      const block = field === '' ? odd.value : withField(text, field, odd);
      return [{ kind: 'done', message: { ...message, content: [block] } }];
    }
    case 'call':
      return [{ kind: 'done', message: callMessage(field, odd) }];
    default: {
      const failed = { kind: 'failed', kindOf: 'stream', message: 'overloaded' };
      return [withField(failed, field, odd)];
    }
  }
}

describe('L2.6 the fields of a stream’s events', () => {
  tests(EVENT_VALUES, async (name, odd, fits) => {
    const world = new World();
    world.scripts = [passedOffAs<StreamEvent[]>(eventsWith(name, odd)), say('so'), say('so')];
    const end = await play(world);
    const failed = !fits || name.startsWith('failed.');
    const sendable = !UNSENDABLE.includes(`${name} is ${odd.name}`);
    expect(outcomeOf(end)).toBe(failed ? 'stream' : sendable ? 'completed' : 'generate');
    await playOn(world);
  });
});

describe('L4.6 the fields of a tool’s output', () => {
  tests(OUTPUT_VALUES, async (field, odd, foreign) => {
    const world = new World();
    world.hooks['ToolRegistry.dispatch'] = (input) => {
      const { call_id } = passedOffAs<ToolInput>(input);
      const output = { call_id, value: 1, render: null, error: null, decision: null };
      return Promise.resolve(withField(output, field, odd));
    };
    expect(outcomeOf(await play(world))).toBe('completed');
    expect([...world.told.keys()]).toEqual(foreign ? ['foreign_call_id'] : []);
    await playOn(world);
  });
});

describe('X12 the fields of what a spill gives', () => {
  tests(SPILL_VALUES, async (field, odd, fits) => {
    const world = new World();
    const ref = { locator: '/tmp/x', bytes: 1, retrievalHint: 'read it' };
    world.hooks['retention.spill'] = () => Promise.resolve(withField(ref, field, odd));
    expect(outcomeOf(await play(world))).toBe('completed');
    expect([...world.told.keys()]).toEqual(fits ? [] : ['spill_failed']);
    await playOn(world);
  });
});

describe('X6 a message that came in, and its fields', () => {
  const steered = async (item: unknown, fits: boolean): Promise<void> => {
    const world = new World();
    let drained = false;
    world.hooks['injections.drain'] = () => {
      const items = drained ? [] : [{ text: 'before', from: '' }, item, { text: 'after', from: '' }];
      drained = true;
      return items;
    };
    expect(outcomeOf(await play(world))).toBe('completed');
    expect([...world.told.keys()]).toEqual(fits ? [] : ['injections_failed']);
    const texts = world.log.rows.filter(({ type }) => type === 'user_message');
    expect(texts).toHaveLength(fits ? 4 : 3);
    await playOn(world);
  };
  tests(INJECTION_VALUES, (field, odd, fits) =>
    steered(withField({ text: 'hm', from: 'Ann' }, field, odd), fits),
  );
  tests({ item: () => false }, (_, odd) => steered(odd.value, false));
});

describe('X14 the fields of a request from prepareStep', () => {
  tests(REQUEST_VALUES, async (field, odd, fits) => {
    const world = new World();
    world.hooks.prepareStep = (request) =>
      withField(passedOffAs<ModelRequest>(request), field, odd);
    expect(outcomeOf(await play(world))).toBe(fits ? 'completed' : 'generate');
    await playOn(world);
  });
});
