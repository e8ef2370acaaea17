/** What a hook may do to the loop that calls it, whatever its type says. */

/** How a hook misbehaves; the table says for each place what follows. */
export type Manner =
  | 'throws'
  | 'rejects'
  | 'never settles'
  | 'gives junk'
  | 'gives a good thenable'
  | 'gives a bad thenable'
  | 'starts a turn'
  | 'cancels'
  | 'appends'
  | 'mutates';

/** What a hook is called with, and what it may reach besides. */
export interface HookCall {
  readonly args: unknown[];
  /** What a hook of good manners does with these, or other, arguments. */
  readonly good: (args?: unknown[]) => unknown;
  readonly reach: Reach;
}

/** What a hook can do to the turn that it runs in. */
export interface Reach {
  /** Starts another turn on the same log. */
  startTurn(): void;
  cancel(): void;
  /** Writes a row that is none of the turn's into its log, between any two of its rows. */
  append(type: 'tool_call' | 'user_message'): void;
  /** A promise that settles only once the test says so. */
  held(): Promise<unknown>;
}

export interface Behaviour {
  readonly name: string;
  readonly manner: Manner;
  readonly act: (call: HookCall) => unknown;
  /** What it throws or rejects with. */
  readonly fault?: unknown;
}

/** For values whose type is exactly what a test is to break. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- names the lie
export const passedOffAs = <T>(value: unknown): T => value as T;

const REFUSAL = new Error('a trap of the proxy');
const refuse = (): never => {
  throw REFUSAL;
};
const TRAPS: ProxyHandler<object> = {
  get: refuse,
  set: refuse,
  has: refuse,
  deleteProperty: refuse,
  ownKeys: refuse,
  getPrototypeOf: refuse,
  setPrototypeOf: refuse,
  getOwnPropertyDescriptor: refuse,
  defineProperty: refuse,
  isExtensible: refuse,
  preventExtensions: refuse,
};

/** Throws on everything that can be done with it. */
const PROXY: unknown = new Proxy({}, TRAPS);

/** As {@link PROXY}, but awaiting it gives it back. */
const AWAITABLE_PROXY: unknown = new Proxy(
  {},
  { ...TRAPS, get: (_, key) => (key === 'then' ? undefined : refuse()) },
);

/** Not even `Array.isArray` can look at it. */
const REVOKED_PROXY: unknown = revoked();

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const BARE: unknown = Object.create(null);

/** Made once: what is huge is shared by all who hand it out. */
export const MANY: readonly unknown[] = Array.from({ length: 1_000_000 }, () => null);
export const LONG_TEXT: string = 'lorem ipsum '.repeat(Math.ceil(50_000_000 / 12));

/** What may be thrown. */
export const FAULTS: readonly (readonly [name: string, fault: unknown])[] = [
  ['an Error', new Error('a fault of the host')],
  ['null', null],
  ['undefined', undefined],
  ['a text', 'no reason'],
  ['an object without a prototype', BARE],
  ['a Proxy that throws', PROXY],
  ['a revoked Proxy', REVOKED_PROXY],
  ['a text of 50 MB', LONG_TEXT],
];

/** What is of no type that any hook is to give. */
export const JUNK: readonly (readonly [name: string, value: unknown])[] = [
  ['undefined', undefined],
  ['null', null],
  ['NaN', NaN],
  ['a boolean', true],
  ['a text', 'noon'],
  ['a symbol', Symbol('noon')],
  ['a function', () => undefined],
  ['an object', {}],
  ['an object without a prototype', BARE],
  ['an array', []],
  ['a Proxy that throws', PROXY],
  ['a Proxy that can be awaited', AWAITABLE_PROXY],
  ['a revoked Proxy', REVOKED_PROXY],
  ['1e6 entries', MANY],
  ['a text of 50 MB', LONG_TEXT],
];

const throwing = (value: unknown) => (): never => {
  throw value;
};

/** Calls back with what is good, and then as often and as contrary as it likes. */
const twice = (good: unknown) => ({
  then: (resolve: (value: unknown) => void, reject: (error: unknown) => void) => {
    Promise.resolve(good).then((value) => {
      resolve(value);
      resolve('a second answer');
      reject(new Error('a third answer'));
    }, reject);
  },
});

const THEN_FAULT = new Error('no then');

/** Takes away what was handed over: its fields overwritten, its list emptied. */
function spoil(value: unknown): void {
  if (typeof value !== 'object' || value === null || value instanceof AbortSignal) return;
  if (Array.isArray(value)) value.length = 0;
  for (const key of Object.keys(value)) Reflect.set(value, key, 'spoiled');
}

const copied = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || value instanceof AbortSignal) return value;
  return Array.isArray(value) ? [...(value as unknown[])] : { ...value };
};

export const BEHAVIOURS: readonly Behaviour[] = [
  ...FAULTS.map(([name, fault]): Behaviour => {
    return { name: `throws ${name}`, manner: 'throws', act: throwing(fault), fault };
  }),
  ...FAULTS.map(([name, fault]): Behaviour => {
    const act = (): unknown => Promise.resolve().then(throwing(fault));
    return { name: `rejects with ${name}`, manner: 'rejects', act, fault };
  }),
  { name: 'never settles', manner: 'never settles', act: ({ reach }) => reach.held() },
  {
    name: 'gives a thenable that never calls back',
    manner: 'never settles',
    act: ({ reach }) => {
      const held = reach.held();
      return { then: held.then.bind(held) };
    },
  },
  ...JUNK.map(([name, value]): Behaviour => {
    return { name: `gives ${name}`, manner: 'gives junk', act: () => value };
  }),
  {
    name: 'gives a thenable that calls back three times',
    manner: 'gives a good thenable',
    act: ({ good }) => twice(good()),
  },
  {
    name: 'gives a thenable that throws',
    manner: 'gives a bad thenable',
    act: () => ({ then: throwing(THEN_FAULT) }),
    fault: THEN_FAULT,
  },
  {
    name: 'gives an object whose then cannot be read',
    manner: 'gives a bad thenable',
    act: () => Object.defineProperty({}, 'then', { get: throwing(THEN_FAULT) }),
    fault: THEN_FAULT,
  },
  {
    name: 'starts a turn on the same log',
    manner: 'starts a turn',
    act: ({ good, reach }) => {
      reach.startTurn();
      return good();
    },
  },
  {
    name: 'cancels the turn',
    manner: 'cancels',
    act: ({ good, reach }) => {
      reach.cancel();
      return good();
    },
  },
  {
    name: 'appends the row of a nested call',
    manner: 'appends',
    act: ({ good, reach }) => {
      reach.append('tool_call');
      return good();
    },
  },
  {
    name: 'appends a user message',
    manner: 'appends',
    act: ({ good, reach }) => {
      reach.append('user_message');
      return good();
    },
  },
  {
    name: 'mutates what it was handed',
    manner: 'mutates',
    act: ({ args, good }) => {
      const given = good(args.map(copied));
      args.forEach(spoil);
      return given;
    },
  },
];
