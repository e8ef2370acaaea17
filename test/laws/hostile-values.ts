import type { TurnOptions, TurnTimeouts, ToolResultRetention, SpillRef } from '@celestea/agent-loop';
import type {
  AgentConfig,

  ImageRef,
  ModelRequest,
  PendingInjection,
  StreamEvent,
  ToolCall,
  ToolOutput,
  Usage,
} from '@celestea/core';

import { JUNK, LONG_TEXT, MANY } from './hostile-behaviours.ts';

/** A value that is put where another one belongs. */
export interface Odd {
  readonly name: string;
  readonly value: unknown;
  /** A getter that throws stands where the value would. */
  readonly getter?: true;
}

const UNREADABLE = new Error('this field cannot be read');

/** Puts an odd value into a field of a copy. */
export function withField(of: object, field: string, { value, getter }: Odd): object {
  const get = (): never => {
    throw UNREADABLE;
  };
  const property = getter === true ? { get } : { value, writable: true };
  return Object.defineProperty({ ...of }, field, { ...property, enumerable: true });
}

/** Large, and yet read many times a turn: a field may be kept, priced and sent. */
const LARGE: readonly Odd[] = [
  { name: '1e5 entries', value: Array.from({ length: 100_000 }, () => null) },
  { name: 'a text of 1 MB', value: 'lorem ipsum '.repeat(90_000) },
];

export const ODDS: readonly Odd[] = [
  ...JUNK.filter(([, value]) => value !== MANY && value !== LONG_TEXT).map(([name, value]) => {
    return { name, value };
  }),
  ...LARGE,
  { name: '-1', value: -1 },
  { name: 'Infinity', value: Infinity },
  { name: 'a getter that throws', value: undefined, getter: true },
];

const PROXIES: readonly string[] = [
  'a Proxy that throws',
  'a Proxy that can be awaited',
  'a revoked Proxy',
];
/** Nothing can be asked of them without an error of their own. */
const UNREADABLES: readonly string[] = [...PROXIES, 'a getter that throws'];

/**
 * What becomes of an odd value: it is taken as it is; it is refused with a `TypeError` that
 * names the place; or reading it fails, with whatever it throws.
 */
export type Taken = 'fits' | 'refused' | 'unreadable';

const TEXTS = ['a text', 'a text of 1 MB'];
const NUMBERS = ['NaN', '-1', 'Infinity'];
const OBJECTS = ['an object', 'an object without a prototype'];

const only =
  (...names: string[]) =>
  ({ name }: Odd): Taken => {
    if (names.includes(name)) return 'fits';
    return UNREADABLES.includes(name) ? 'unreadable' : 'refused';
  };

type Field<Of extends string, T> = `${Of}.${keyof T & string}`;

/** Every option and field of one that a caller gives as data. */
export type ValuePlace =
  | 'ctx'
  | 'userInput'
  | 'bindings'
  | 'turn options'
  | 'config'
  | 'retention'
  | Field<'option', TurnOptions>
  | Field<'timeouts', TurnTimeouts>
  | Field<'retention', ToolResultRetention>
  | Field<'config', AgentConfig>
  | Field<'image', Omit<ImageRef, 'name' | 'original'>>
  | 'image.name'
  | 'image.original';

const option = only('undefined');
const functionOption = only('undefined', 'a function');
const text = only('undefined', ...TEXTS);
const number = only('undefined', ...NUMBERS);
const delay = only('undefined', 'Infinity');
const bytes = only('Infinity');
const nothing = only();

export const VALUES: Record<ValuePlace, (odd: Odd) => Taken> = {
  ctx: nothing,
  userInput: only('null', ...TEXTS),
  bindings: only('undefined', ...OBJECTS),
  'turn options': only('undefined', ...OBJECTS, 'an array'), // an array is the attachments
  config: only(...OBJECTS),
  retention: only('undefined', 'null'),
  'option.attachments': only('undefined', 'an array'),
  'option.signal': option,
  'option.sink': functionOption,
  'option.usage': option,
  'option.injections': option,
  'option.contextPolicy': functionOption,
  'option.prepareStep': functionOption,
  'option.timeouts': only('undefined', ...OBJECTS),
  'option.onDiagnostic': functionOption,
  'timeouts.streamIdleMs': delay,
  'timeouts.toolMs': delay,
  'retention.singleResultBytes': bytes,
  'retention.stepResultBytes': bytes,
  'retention.previewHeadBytes': bytes,
  'retention.previewTailBytes': bytes,
  'retention.spill': only('a function'),
  'config.model': text,
  'config.system_prompt': text,
  'config.max_steps': number,
  'config.max_parallel_tool_calls': number,
  'config.context_window_tokens': number,
  'config.context_trim_threshold': number,
  'config.context_keep_recent': number,
  'image.attachment_id': only(...TEXTS),
  'image.media_type': nothing,
  'image.width': only('-1'),
  'image.height': only('-1'),
  'image.name': only('undefined', 'null', ...TEXTS),
  'image.original': only('undefined', 'null'),
};

/** What is taken, and makes a request that cannot be sent. */
export const UNSENDABLE: readonly string[] = [
  'option.contextPolicy is a function', // that gives nothing
  'config.system_prompt is a text of 1 MB', // larger than the window
  'config.context_trim_threshold is -1', // no budget at all
  // of a call nothing but its arguments is ever left out, and of a signed one not even they (X7)
  'call.id is a text of 1 MB',
  'call.name is a text of 1 MB',
  'call.meta is a text of 1 MB',
  'call.meta is 1e5 entries',
];

/** What is read of a stream's events. */
export type EventPlace =
  | 'event'
  | 'event.kind'
  | 'text.text'
  | 'thinking.text'
  | 'thinking.meta'
  | 'usage.usage'
  | Field<'counters', Usage>
  | 'done.message'
  | 'done.finish'
  | 'message.content'
  | 'block'
  | 'block.type'
  | 'block.content'
  | Field<'call', ToolCall>
  | 'failed.kindOf'
  | 'failed.message';

/** Each field that an event of some kind has; a new one has no row and does not compile. */
export type EventField = FieldOf<StreamEvent>;

type FieldOf<Event> = Event extends { kind: infer Kind extends string }
  ? `${Kind}.${Exclude<keyof Event, 'kind'> & string}`
  : never;

const amongst =
  (...names: string[]) =>
  ({ name }: Odd): boolean =>
    names.includes(name);
const readable = ({ getter }: Odd): boolean => getter !== true;

/** Whether an odd value makes an event that is one; the others are `error{stream}`. */
export const EVENT_VALUES: Record<EventPlace | EventField, (odd: Odd) => boolean> = {
  event: amongst(),
  'event.kind': amongst(),
  'text.text': amongst(...TEXTS),
  'thinking.text': amongst(...TEXTS),
  'thinking.meta': readable, // opaque (X10)
  'usage.usage': amongst(),
  'counters.prompt_tokens': amongst(...NUMBERS),
  'counters.completion_tokens': amongst(...NUMBERS),
  'counters.total_tokens': amongst(...NUMBERS),
  'counters.cache_read': amongst(...NUMBERS),
  'counters.reasoning_tokens': amongst(...NUMBERS),
  'done.message': amongst(),
  'done.finish': readable, // what is not known is `other`
  'message.content': amongst('an array'),
  block: amongst(),
  'block.type': amongst(),
  'block.content': amongst(...TEXTS),
  'call.id': readable, // replaced by one that fits (X11)
  'call.name': amongst(...TEXTS),
  'call.args': readable, // opaque
  'call.meta': readable, // opaque
  'failed.kindOf': amongst(),
  'failed.message': amongst(...TEXTS),
};

/** What a tool's output may hold: anything (L4.6). `true` where a diagnostic comes of it. */
export const OUTPUT_VALUES: Record<keyof ToolOutput, (odd: Odd) => boolean> = {
  call_id: readable, // not the one that was asked
  value: () => false,
  render: () => false,
  error: () => false,
  decision: () => false,
  surface: () => false,
  abandoned: () => false,
};

/** Whether what a spill gives can be used (X12). */
export const SPILL_VALUES: Record<keyof SpillRef, (odd: Odd) => boolean> = {
  locator: amongst(...TEXTS),
  bytes: () => true, // they are counted here
  retrievalHint: amongst(...TEXTS),
};

/** Whether a message that came in can be used (X6). */
export const INJECTION_VALUES: Record<keyof PendingInjection, (odd: Odd) => boolean> = {
  text: amongst(...TEXTS),
  from: readable,
};

/** Whether a request from `prepareStep` can be sent (X14). */
export const REQUEST_VALUES: Record<keyof ModelRequest, (odd: Odd) => boolean> = {
  model: readable, // the model's to judge
  system: readable,
  messages: amongst('an array', '1e5 entries'),
  tools: amongst('an array', '1e5 entries'),
  max_tokens: readable,
  temperature: readable,
};
