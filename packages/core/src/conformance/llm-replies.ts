import type { ToolCall } from '../message.ts';
import type { FinishReason } from '../model.ts';
import type { Usage } from '../usage.ts';

/**
 * What a model is arranged to do, and what is then done with it; an Llm claims each for itself:
 *
 * - `words`: thinks, speaks in two pieces and tells its usage
 * - `calls`: speaks and makes two calls at once, the second without arguments
 * - `signed`: signs its reasoning and its call, and answers when it gets both back
 * - `cut`: stops because the reply is long enough
 * - `refused`: is not to be had, and will not be
 * - `busy`: is not to be had for now, and answers the next request
 * - `torn`: breaks off inside the arguments of a call
 * - `silent`: never answers; the signal aborts
 * - `stalled`: begins and never goes on; the signal aborts
 * - `left`: begins and never goes on; its reader leaves
 * - `aborted`: would answer; the signal aborted before it was asked
 *
 * The ones in which a signal aborts are for an Llm that heeds its signal, which C2.3 leaves free.
 */
export type LlmScenario =
  | 'words'
  | 'calls'
  | 'signed'
  | 'cut'
  | 'refused'
  | 'busy'
  | 'torn'
  | 'silent'
  | 'stalled'
  | 'left'
  | 'aborted';

/** Every {@link LlmScenario}. */
export const LLM_SCENARIOS: readonly LlmScenario[] = [
  'words',
  'calls',
  'signed',
  'cut',
  'refused',
  'busy',
  'torn',
  'silent',
  'stalled',
  'left',
  'aborted',
];

/** A whole reply. */
export interface LlmContractAnswer {
  readonly ends: 'done';
  /** Comes before the words; `meta` stands for whatever signs it, in the provider's own form. */
  readonly thinking: { readonly text: string; readonly meta?: unknown } | null;
  /** The text, each piece sent by itself. */
  readonly pieces: readonly string[];
  /** After the words. A `meta` stands for whatever signs the call, as with the reasoning. */
  readonly calls: readonly Readonly<ToolCall>[];
  readonly finish: FinishReason;
  /** `null` when none is told, or none that could be known. */
  readonly usage: Readonly<Usage> | null;
}

/** A refusal in place of a reply. */
export interface LlmContractRefusal {
  readonly ends: 'refused';
  readonly httpStatus: number;
  /** What the provider says; the error is to say it too. */
  readonly message: string;
  readonly retryable: boolean;
}

/** A reply that breaks off, its connection cut, inside the arguments of a call. */
export interface LlmContractTear {
  readonly ends: 'torn';
  readonly pieces: readonly string[];
  /** `json` is as much of the arguments' JSON text as is sent. */
  readonly call: { readonly id: string; readonly name: string; readonly json: string };
}

/** A reply that never ends, and is held open after its pieces; without any, never begins. */
export interface LlmContractSilence {
  readonly ends: 'never';
  readonly pieces: readonly string[];
}

/** What a model is to send for one request. */
export type LlmContractReply =
  LlmContractAnswer | LlmContractRefusal | LlmContractTear | LlmContractSilence;

const usage: Usage = {
  prompt_tokens: 21,
  completion_tokens: 13,
  total_tokens: 34,
  cache_read: 8,
  reasoning_tokens: 5,
};

const answer = (
  pieces: readonly string[],
  rest: Partial<LlmContractAnswer> = {},
): LlmContractAnswer => ({
  ends: 'done',
  thinking: null,
  pieces,
  calls: [],
  finish: 'stop',
  usage,
  ...rest,
});

const WATER = answer(['Water boils ', 'at 100 °C.'], { thinking: { text: 'At sea level.' } });
const ICE = answer(['Ice melts ', 'at 0 °C.'], { thinking: { text: 'It is frozen.' } });

const CALLS = answer(['I look ', 'at both.'], {
  finish: 'tool_calls',
  calls: [
    {
      id: 'call_1',
      name: 'read_file',
      args: { path: 'a/naïve "1".ts', lines: { from: 1, to: null }, marks: [true, { at: [0.5] }] },
    },
    { id: 'call_2', name: 'list_files', args: {} },
  ],
});

const SIGNED = answer(['I read it.'], {
  thinking: { text: 'The file will tell.', meta: { signature: 'dGhvdWdodA==' } },
  finish: 'tool_calls',
  calls: [
    { id: 'call_3', name: 'read_file', args: { path: 'a' }, meta: { signature: 'Y2FsbA==' } },
  ],
});

const REFUSED: LlmContractRefusal = {
  ends: 'refused',
  httpStatus: 401,
  message: 'this key is not known',
  retryable: false,
};

const BUSY: LlmContractRefusal = {
  ends: 'refused',
  httpStatus: 429,
  message: 'too many requests for now',
  retryable: true,
};

const BEGUN: LlmContractSilence = { ends: 'never', pieces: ['It is '] };

/**
 * What the model sends in each scenario: the first entry for the first request, the second for
 * the second. No test sends more requests than there are entries.
 */
export const LLM_CONTRACT_REPLIES: Readonly<Record<LlmScenario, readonly LlmContractReply[]>> = {
  words: [WATER, ICE],
  calls: [CALLS],
  signed: [SIGNED, ICE],
  cut: [answer(['Once upon ', 'a ti'], { finish: 'length' })],
  refused: [REFUSED],
  busy: [BUSY, WATER],
  torn: [
    {
      ends: 'torn',
      pieces: ['I write ', 'it.'],
      call: { id: 'call_4', name: 'write_file', json: '{"path":"a","text":"half of' },
    },
  ],
  silent: [{ ends: 'never', pieces: [] }],
  stalled: [BEGUN],
  left: [BEGUN],
  aborted: [WATER],
};
