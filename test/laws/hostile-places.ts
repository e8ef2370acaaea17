import { think } from '@celestea/agent-loop/testing';
import type { DiagnosticKind } from '@celestea/agent-loop';

import { BEHAVIOURS, type Behaviour } from './hostile-behaviours.ts';
import type { Corruption, HookPlace, World } from './hostile-world.ts';

/** What a turn does of a hook's misbehaviour, as documented. */
export type Effect = Ends | Rejects;

interface Ends {
  readonly kind: 'ends';
  /** The outcome; of an error, its kind. */
  readonly as: 'completed' | 'cancelled' | 'generate' | 'stream';
  /** The kinds of diagnostics that come. */
  readonly told: readonly DiagnosticKind[];
  /** What it takes to end: nothing, a cancel, or that the hook lets go, too. */
  readonly after: 'nothing' | 'cancel' | 'release';
}

interface Rejects {
  readonly kind: 'rejects';
  readonly with: 'its fault' | 'TypeError' | 'AgentError' | 'an Error';
  /** How much of the turn is in the log: nothing, all of it, all but its end. */
  readonly written: 'nothing' | 'a turn' | 'an open turn';
}

/** A hook in the table. */
export interface Place {
  /** Sets the scene in which the hook is called. */
  readonly scene?: (world: World) => void;
  readonly corruption?: Corruption;
  readonly effect: (behaviour: Behaviour) => Effect;
}

const ends = (as: Ends['as'], ...told: DiagnosticKind[]): Ends => {
  return { kind: 'ends', as, told, after: 'nothing' };
};
const completed = ends('completed');
const stuck: Ends = { ...ends('cancelled'), after: 'cancel' };
const rejects = (what: Rejects['with'], written: Rejects['written']): Rejects => {
  return { kind: 'rejects', with: what, written };
};

const PROXIES = ['gives a Proxy that throws', 'gives a revoked Proxy'];
const AWAITABLE = 'gives a Proxy that can be awaited';

const isOneOf = ({ name }: Behaviour, ...names: string[]): boolean => names.includes(name);

/** What is the same at every place: a hook that does its work and something besides. */
function polite(behaviour: Behaviour, otherwise: (behaviour: Behaviour) => Effect): Effect {
  switch (behaviour.manner) {
    case 'starts a turn': // it is refused, and the running one does not notice
    case 'appends':
    case 'mutates':
      return completed;
    case 'cancels':
      return ends('cancelled');
    case 'throws':
    case 'rejects':
    case 'never settles':
    case 'gives junk':
    case 'gives a good thenable':
    case 'gives a bad thenable':
      return otherwise(behaviour);
    default:
      return behaviour.manner satisfies never;
  }
}

/** A hook that is told something: what it gives is ignored, what it throws is told. */
const told =
  (...kinds: DiagnosticKind[]) =>
  (behaviour: Behaviour): Effect =>
    polite(behaviour, ({ manner }) => {
      const fails = manner === 'throws' || manner === 'rejects';
      const unreadable = isOneOf(behaviour, ...PROXIES, AWAITABLE);
      return fails || unreadable ? ends('completed', ...kinds) : completed;
    });

/** A hook that is awaited: what it fails with is `failed`, what it gives is up to `junk`. */
const awaited =
  (failed: Effect, junk: (behaviour: Behaviour) => Effect) =>
  (behaviour: Behaviour): Effect =>
    polite(behaviour, ({ manner }) => {
      switch (manner) {
        case 'never settles':
          return stuck;
        case 'gives junk':
          return isOneOf(behaviour, ...PROXIES) ? failed : junk(behaviour);
        case 'gives a good thenable':
          return completed;
        default:
          return failed;
      }
    });

/** A method that has to answer at once: a promise of any make is a wrong answer. */
const atOnce =
  (failed: Effect, wrong: Effect, fits: (behaviour: Behaviour) => Effect | null) =>
  (behaviour: Behaviour): Effect =>
    polite(behaviour, ({ manner }) => (manner === 'throws' ? failed : (fits(behaviour) ?? wrong)));

/** A row of the log that cannot be written; the turn's own end is not tried twice. */
function append(type: string, failed: Effect): Place {
  let met: World | null = null;
  let failures = 0;
  return {
    scene: (world) => {
      met = world;
      failures = 0;
    },
    corruption: {
      acts: 'unless it throws',
      when: ([row]) => {
        const hits = met !== null && (row as { type?: unknown }).type === type && failures === 0;
        if (hits) failures += 1;
        return hits;
      },
    },
    effect: (behaviour) => {
      if (type === 'turn_end' && behaviour.manner === 'cancels') return completed; // too late
      return polite(behaviour, ({ manner }) => {
        if (manner === 'throws') return failed;
        return manner === 'rejects' ? rejects('its fault', 'a turn') : completed;
      });
    },
  };
}

/** Never called by a turn. */
export const unused: Place = { effect: () => completed };

const brokenSeam = rejects('its fault', 'a turn');

/** Every function that a turn may be handed, and what becomes of it. */
const PLACES: Record<HookPlace, Place | Record<string, Place>> = {
  'Context.get': {
    effect: (behaviour) => {
      switch (behaviour.manner) {
        case 'throws':
          return rejects('its fault', 'nothing');
        case 'starts a turn': // before this one has the log
          return rejects('AgentError', 'a turn');
        case 'gives junk':
          if (isOneOf(behaviour, 'gives undefined', 'gives null')) {
            return rejects('AgentError', 'nothing');
          }
          return rejects('an Error', 'nothing');
        default:
          return polite(behaviour, () => rejects('TypeError', 'nothing'));
      }
    },
  },
  'Llm.generate': {
    effect: awaited(ends('generate', 'model_failed'), () => ends('generate')),
  },
  'stream.asyncIterator': {
    effect: (behaviour) => polite(behaviour, () => ends('stream', 'model_failed')),
  },
  'stream.next': {
    effect: awaited(ends('stream', 'model_failed'), (behaviour) => {
      const isObject = isOneOf(
        behaviour,
        ...['gives an object', 'gives an object without a prototype', 'gives an array'],
        'gives 1e6 entries',
      );
      return isObject ? ends('stream') : ends('stream', 'model_failed');
    }),
  },
  'stream.return': {
    scene: (world) => {
      const failed = { kind: 'failed', kindOf: 'stream', message: 'overloaded' } as const;
      world.scripts = [[think('hm'), failed]];
    },
    effect: ({ manner }) => (manner === 'cancels' ? ends('cancelled') : ends('stream')),
  },
  'stream.throw': unused,
  'SessionLog.append': {
    turn_start: append('turn_start', rejects('its fault', 'nothing')),
    user_message: append('user_message', brokenSeam),
    thinking_delta: append('thinking_delta', brokenSeam),
    assistant_message: append('assistant_message', brokenSeam),
    tool_call: append('tool_call', brokenSeam),
    tool_result: append('tool_result', brokenSeam),
    turn_end: append('turn_end', rejects('its fault', 'an open turn')),
  },
  'SessionLog.events': unused,
  'SessionLog.clear': unused,
  'SessionLog.deriveMessages': {
    effect: atOnce(brokenSeam, rejects('TypeError', 'a turn'), (behaviour) => {
      if (isOneOf(behaviour, 'gives 1e6 entries')) return ends('generate'); // none is a message
      return isOneOf(behaviour, 'gives an array') ? completed : null;
    }),
  },
  'SessionLog.nextTurnId': {
    effect: atOnce(
      rejects('its fault', 'nothing'),
      rejects('TypeError', 'nothing'),
      (behaviour) =>
        isOneOf(behaviour, 'gives a text', 'gives a text of 50 MB') ? completed : null,
    ),
  },
  'SessionLog.flush': {
    effect: (behaviour) => {
      const { manner } = behaviour;
      if (manner === 'never settles') return { ...stuck, after: 'release' };
      if (isOneOf(behaviour, ...PROXIES)) return rejects('an Error', 'a turn');
      return awaited(brokenSeam, () => completed)(behaviour);
    },
  },
  'ToolRegistry.register': unused,
  'ToolRegistry.addGuard': unused,
  'ToolRegistry.get': unused,
  'ToolRegistry.schemas': {
    effect: atOnce(brokenSeam, rejects('TypeError', 'a turn'), (behaviour) =>
      isOneOf(behaviour, 'gives an array', 'gives 1e6 entries') ? completed : null,
    ),
  },
  'ToolRegistry.dispatch': {
    effect: (behaviour) => {
      const { manner } = behaviour;
      if (manner === 'never settles') return { ...stuck, told: ['tool_abandoned'] };
      if (manner === 'cancels') return ends('cancelled', 'tool_abandoned');
      return awaited(completed, () => {
        if (isOneOf(behaviour, AWAITABLE)) return completed;
        const isObject = isOneOf(
          behaviour,
          'gives an object',
          'gives an object without a prototype',
        );
        return ends('completed', isObject ? 'foreign_call_id' : 'malformed_output');
      })(behaviour);
    },
  },
  'usage.record': { corruption: { acts: 'always' }, effect: told('usage_failed') },
  'usage.latest': unused,
  'usage.total': unused,
  'injections.drain': {
    effect: atOnce(
      ends('completed', 'injections_failed'),
      ends('completed', 'injections_failed'),
      (behaviour) =>
        isOneOf(behaviour, 'gives undefined', 'gives null', 'gives an array') ? completed : null,
    ),
  },
  'injections.pending': {
    effect: atOnce(
      ends('completed', 'injections_failed'),
      completed,
      (behaviour) => {
        const unreadable = isOneOf(
          behaviour,
          ...[...PROXIES, AWAITABLE, 'gives a symbol', 'gives an object without a prototype'],
          'never settles', // a promise; a thenable is no number and no promise
        );
        const failed = behaviour.manner === 'rejects' || unreadable;
        return failed ? ends('completed', 'injections_failed') : null;
      },
    ),
  },
  'retention.spill': {
    effect: awaited(ends('completed', 'spill_failed'), (behaviour) =>
      isOneOf(behaviour, 'gives null') ? completed : ends('completed', 'spill_failed'),
    ),
  },
  sink: { corruption: { acts: 'always' }, effect: told('sink_failed') },
  contextPolicy: { effect: awaited(ends('generate'), () => ends('generate')) },
  prepareStep: {
    effect: (behaviour) => {
      if (behaviour.manner === 'mutates') return ends('generate');
      return awaited(ends('generate'), () =>
        isOneOf(behaviour, 'gives undefined', 'gives null') ? completed : ends('generate'),
      )(behaviour);
    },
  },
  onDiagnostic: {
    scene: (world) => {
      world.hooks['usage.record'] = () => {
        throw new Error('something to tell of');
      };
    },
    corruption: { acts: 'always' },
    effect: (behaviour) => {
      const effect = told()(behaviour);
      return effect.kind === 'ends' ? { ...effect, told: ['usage_failed'] } : effect;
    },
  },
};

/** One cell of the table. */
export interface Cell {
  readonly title: string;
  readonly hook: HookPlace;
  readonly place: Place;
  readonly behaviour: Behaviour;
}

/** The rows of a hook, by name. */
export function rowsOf(hook: HookPlace): [name: string, place: Place][] {
  const entry = PLACES[hook];
  if (isPlace(entry)) return [[hook, entry]];
  return Object.entries(entry).map(([of, place]) => [`${hook} of ${of}`, place]);
}

const isPlace = (entry: Place | Record<string, Place>): entry is Place =>
  typeof entry.effect === 'function';

export const HOOKS: readonly HookPlace[] = Object.keys(PLACES) as HookPlace[];

/** Every place with every behaviour. */
export const CELLS: readonly Cell[] = HOOKS.flatMap((hook) =>
  rowsOf(hook).flatMap(([name, place]) =>
    BEHAVIOURS.map((behaviour) => {
      return { title: `${name} ${behaviour.name}`, hook, place, behaviour };
    }),
  ),
);
