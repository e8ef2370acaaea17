import { cutMiddle, utf8Length, type Content, type Message } from '@celestea/core';

import {
  contextBudget,
  TRIMMED_MARKER_PREFIX,
  trimmedMarkerMessage,
  trimToBudget,
  untrimmed,
  type TrimOutcome,
  type TrimResult,
} from './context-trim.ts';
import { withoutOldestGroups } from './old-groups.ts';
import { hasCalls } from './priced-history.ts';
import {
  BYTES_PER_TOKEN,
  giveableTokens,
  MIN_TEXT_BYTES,
  NOTICE_BYTES,
  withoutArguments,
  withoutResult,
} from './smaller-messages.ts';
import { messageEstimator } from './tokens.ts';

/** A request that cannot be made to fit; its message names the numbers (X7). */
export class ContextBudgetError extends Error {
  override readonly name = 'ContextBudgetError';
}

/**
 * `trimContext`, and then what it takes to fit: one long turn cannot be cut at a
 * user's message, so its parts are made smaller, and only as far as needed (X7).
 *
 * Tool results, oldest first, become one-line notices, then the arguments of those calls;
 * the newest calls are spared. Then the largest texts keep head and tail. Where that cannot
 * be enough, the oldest calls go together with their results, then the oldest turns, and
 * what the newest calls have left is the last to go.
 *
 * Every call stays answered, the first message stays a user's, cuts fall between code
 * points, and the messages handed in are not touched. The parameters are `trimContext`'s.
 *
 * @throws ContextBudgetError when nothing is left that could give
 */
export function fitContext(
  messages: readonly Message[],
  systemTokens: number,
  windowTokens: number,
  threshold: number,
  keepRecent: number,
): TrimResult {
  const budget = contextBudget(windowTokens, threshold);
  if (budget === null) return untrimmed([...messages]);
  const pass = trimToBudget(messages, systemTokens, budget, keepRecent);
  if (pass.total() <= budget) return pass.trimmed;
  return new Fitting(withoutOldestGroups(pass, budget), systemTokens, budget).fit();
}

interface Entry {
  message: Message;
  tokens: number;
  /** The message and its price before anything was left out of it. */
  readonly original: Message;
  readonly whole: number;
}

/** Whether a unit that may be dropped starts here; `null` inside a unit. */
type UnitStart = (entry: Entry, index: number) => boolean | null;

/** Tokens that a message gives, at least, when no text keeps more than `bytes`. */
type Giveable = (message: Message, bytes: number) => number;

const nothing: Giveable = () => 0;

interface TextBlock {
  readonly entry: Entry;
  /** Its place in the message. */
  readonly index: number;
  readonly text: string;
  readonly bytes: number;
}

/** One request being made smaller, part by part, until it fits. */
class Fitting {
  /** Tokens over budget; it fits at 0 and below. */
  #over: number;
  #entries: Entry[];
  #outcome: TrimOutcome;
  readonly #budget: number;
  readonly #estimate = messageEstimator();

  constructor(trimmed: TrimResult, systemTokens: number, budget: number) {
    this.#outcome = trimmed.outcome;
    this.#budget = budget;
    this.#entries = trimmed.messages.map((message) => this.#entry(message));
    this.#over = sumTokens(this.#entries) + systemTokens - budget;
  }

  fits(): boolean {
    return this.#over <= 0;
  }

  fit(): TrimResult {
    const older = this.#entries.slice(0, newestGroup(this.#entries));
    this.#rewriteEach(older, leaveOutResult);
    this.#rewriteEach(older, leaveOutArguments);
    this.#dropGroups(giveableTokens);
    this.#dropTurns(giveableTokens);
    this.#cutLargestTexts();
    this.#rewriteEach(this.#entries, leaveOutArguments);
    this.#dropGroups(nothing);
    this.#dropTurns(nothing);
    this.#rewriteEach(this.#entries, leaveOutResult);
    if (!this.fits()) {
      throw new ContextBudgetError(
        'context budget exceeded: with everything left out that can be, the request needs ' +
          `${String(this.#budget + this.#over)} tokens and the budget is ${String(this.#budget)}`,
      );
    }
    const messages = this.#entries.map((entry) => entry.message);
    return { messages, outcome: { ...this.#outcome, trimmed: true } };
  }

  #entry(message: Message): Entry {
    const tokens = this.#estimate(message);
    return { message, tokens, original: message, whole: tokens };
  }

  #rewriteEach(entries: readonly Entry[], rewrite: (entry: Entry) => Message): void {
    for (const entry of entries) {
      if (this.fits()) return;
      this.#replace(entry, rewrite(entry));
    }
  }

  /** Puts a smaller message in an entry's place; one that is not smaller is not taken. */
  #replace(entry: Entry, message: Message): void {
    if (message === entry.message) return;
    const tokens = this.#estimate(message);
    if (tokens >= entry.tokens) return;
    this.#over -= entry.tokens - tokens;
    entry.message = message;
    entry.tokens = tokens;
  }

  /** Brings the largest texts down together, and the last of them no further than needed. */
  #cutLargestTexts(): void {
    if (this.fits()) return;
    const blocks = this.#entries.flatMap(textBlocks).sort((a, b) => b.bytes - a.bytes);
    let level = blocks[0]?.bytes ?? 0;
    while (!this.fits() && level > MIN_TEXT_BYTES) {
      const former = level;
      level = Math.max(MIN_TEXT_BYTES, Math.floor(level / 2));
      for (const block of blocks) {
        if (this.fits() || block.bytes <= level) break;
        const has = Math.min(block.bytes, former);
        const needed = has - this.#over * BYTES_PER_TOKEN - NOTICE_BYTES;
        this.#replace(block.entry, withCutText(block, Math.max(level, needed)));
      }
    }
  }

  /** Calls together with their results; the newest stay. */
  #dropGroups(giveable: Giveable): void {
    const newest = newestGroup(this.#entries);
    this.#drop(giveable, ({ message }, index) =>
      message.role === 'tool' ? null : index < newest && hasCalls(message),
    );
  }

  /** All of what came before the newest user's message, from one user's message to the next. */
  #dropTurns(giveable: Giveable): void {
    const first = this.#entries.findIndex(({ message }) => message.role !== 'system');
    const last = this.#entries.findLastIndex(({ message }) => message.role === 'user');
    this.#drop(giveable, ({ message }, index) =>
      message.role === 'user' || index === first ? index < last : null,
    );
  }

  /**
   * Drops whole units, oldest first, where more is over than the texts can give; then so many
   * that no text has to go below a quarter of the budget: what is new is worth more than
   * notices of what is old.
   */
  #drop(giveable: Giveable, startsUnit: UnitStart): void {
    const given = (bytes: number): number =>
      this.#entries.reduce((sum, entry) => sum + giveable(entry.message, bytes), 0);
    if (this.#over <= given(MIN_TEXT_BYTES)) return;
    const fair = Math.max(MIN_TEXT_BYTES, this.#budget); // at 4 bytes a token
    const spare = given(fair);
    const marked = this.#outcome.trimmed;
    const dropped: Entry[] = [];
    let over = this.#over + this.#markerGrowth(marked);
    let dropping = false;
    const kept = this.#entries.filter((entry, index) => {
      const starts = startsUnit(entry, index);
      if (starts !== null) dropping = starts && over > spare;
      if (!dropping) return true;
      over += giveable(entry.message, fair) - entry.tokens; // what it could have given is gone too
      dropped.push(entry);
      return false;
    });
    if (dropped.length === 0) return;
    this.#outcome = {
      removedMessages: this.#outcome.removedMessages + dropped.length,
      removedTokens: dropped.reduce((sum, entry) => sum + entry.whole, this.#outcome.removedTokens),
      trimmed: true,
    };
    this.#over -= sumTokens(this.#entries);
    this.#entries = kept;
    this.#putMarker(marked);
    this.#over += sumTokens(this.#entries);
  }

  /** What the marker of the largest cut would take, over what it takes already. */
  #markerGrowth(marked: boolean): number {
    const { removedMessages, removedTokens } = this.#outcome;
    const tokens = this.#entries.reduce((sum, entry) => sum + entry.whole, removedTokens);
    const largest = trimmedMarkerMessage(removedMessages + this.#entries.length, tokens);
    const former = marked ? this.#entries[this.#systemEnd() - 1]?.tokens : 0;
    return this.#estimate(largest) - (former ?? 0);
  }

  #systemEnd(): number {
    const first = this.#entries.findIndex((entry) => entry.message.role !== 'system');
    return first < 0 ? this.#entries.length : first;
  }

  /** The marker counts everything that was removed; it is the last of the system messages. */
  #putMarker(marked: boolean): void {
    const { removedMessages, removedTokens } = this.#outcome;
    const marker = this.#entry(trimmedMarkerMessage(removedMessages, removedTokens));
    const end = this.#systemEnd();
    this.#entries.splice(marked ? end - 1 : end, marked ? 1 : 0, marker);
  }
}

/** What is left of a result that was cut already is told of as the whole. */
const leaveOutResult = ({ message, original }: Entry): Message =>
  original.role === 'tool' ? withoutResult(original) : message;

const leaveOutArguments = ({ message }: Entry): Message => withoutArguments(message);

const sumTokens = (entries: readonly Entry[]): number =>
  entries.reduce((sum, entry) => sum + entry.tokens, 0);

/** Index of the newest message with calls; the number of entries when there is none. */
function newestGroup(entries: readonly Entry[]): number {
  const index = entries.findLastIndex((entry) => hasCalls(entry.message));
  return index < 0 ? entries.length : index;
}

/** The texts of a message that may be cut. */
function textBlocks(entry: Entry): TextBlock[] {
  if (entry.message.role === 'system') return [];
  return entry.message.content.flatMap((block, index) => {
    if (block.type !== 'text') return [];
    return [{ entry, index, text: block.content, bytes: utf8Length(block.content) }];
  });
}

function withCutText({ entry, index, text }: TextBlock, bytes: number): Message {
  const cut = cutMiddle(text, Math.ceil(bytes / 2), Math.floor(bytes / 2));
  if (cut === null) return entry.message;
  const left = `${TRIMMED_MARKER_PREFIX} ${String(cut.omittedBytes)} bytes left out to fit`;
  return withBlock(entry.message, index, {
    type: 'text',
    content: `${cut.head}\n${left}\n${cut.tail}`,
  });
}

function withBlock(message: Message, index: number, block: Content): Message {
  return { ...message, content: message.content.with(index, block) };
}
