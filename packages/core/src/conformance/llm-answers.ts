import {
  messageTexts,
  messageToolCalls,
  toolCallIds,
  toolResultMessage,
  type Message,
  type ThinkingContent,
  type ToolCall,
} from '../message.ts';
import { isTerminalStreamEvent, STREAM_EVENT_KINDS, type StreamEvent } from '../model.ts';
import { describeValue, isRecord } from '../shape.ts';
import { zeroUsage } from '../usage.ts';
import type { ContractAssert } from './framework.ts';
import {
  arranged,
  arrangedWords,
  deepFreeze,
  doneOf,
  kindsOf,
  wholeReply,
  wordsOf,
  type HeldLlm,
  type LlmTest,
} from './llm-kit.ts';
import type { LlmScenario } from './llm-replies.ts';
import { watchedSignal } from './watched-signal.ts';

/** What is wrong with an event by itself; `done` and `usage` are looked into elsewhere. */
function eventFault(event: unknown): string | null {
  if (!isRecord(event)) return `an event is ${describeValue(event)}`;
  const { kind, text } = event;
  if (!STREAM_EVENT_KINDS.some((known) => known === kind)) {
    return `a kind is ${describeValue(kind)}`;
  }
  const hasText = kind === 'text' || kind === 'thinking';
  return hasText && typeof text !== 'string' ? `a text is ${describeValue(text)}` : null;
}

function assertCounts(assert: ContractAssert, usage: unknown): void {
  for (const counter of Object.keys(zeroUsage())) {
    const count = isRecord(usage) ? usage[counter] : undefined;
    const counts = typeof count === 'number' && Number.isFinite(count) && count >= 0;
    assert.ok(counts, `${counter} is ${describeValue(count)}`);
  }
}

/** What every whole reply is held to. */
const wholeIn = (scenario: LlmScenario): readonly LlmTest[] => [
  {
    scenario,
    title: 'C2.2 brings known events alone',
    run: async (held) => {
      const faults = (await wholeReply(held)).map(eventFault);
      held.assert.deepEqual(
        faults.filter((fault) => fault !== null),
        [],
      );
    },
  },
  {
    scenario,
    title: 'C2.2 is ended by one done, and after it only thinks and tells usage',
    run: async (held) => {
      const events = await wholeReply(held);
      const end = events.findIndex(isTerminalStreamEvent);
      held.assert.equal(events[end]?.kind, 'done', kindsOf(events));
      const late = events.slice(end + 1).map(({ kind }) => kind);
      held.assert.deepEqual(
        late.filter((kind) => kind !== 'thinking' && kind !== 'usage'),
        [],
        kindsOf(events),
      );
    },
  },
  {
    scenario,
    title: 'C2.2 brings the words that were sent',
    run: async (held) => {
      const words = wordsOf(await wholeReply(held));
      held.assert.equal(words, arrangedWords(arranged(held.replies)));
    },
  },
  {
    scenario,
    title: 'C2.2 its message is from the assistant, with the words that were streamed',
    run: async (held) => {
      const events = await wholeReply(held);
      const { message } = doneOf(events);
      const { role, tool_call_id } = message;
      const told = [role, tool_call_id, messageTexts(message).join('')];
      held.assert.deepEqual(told, ['assistant', null, wordsOf(events)]);
    },
  },
  {
    scenario,
    title: 'C2.2 tells its usage once, in counts',
    run: async (held) => {
      const told = (await wholeReply(held)).flatMap((event) =>
        event.kind === 'usage' ? [event.usage] : [],
      );
      held.assert.ok(told.length <= 1, `it is told ${String(told.length)} times`);
      for (const usage of told) assertCounts(held.assert, usage);
      const { usage } = arranged(held.replies);
      if (usage === null) return;
      const { prompt_tokens, completion_tokens } = usage;
      held.assert.deepEqual(
        told.map((counts) => [counts.prompt_tokens, counts.completion_tokens]),
        [[prompt_tokens, completion_tokens]],
      );
    },
  },
  {
    scenario,
    title: 'X8 names no reason to stop but the one there was',
    run: async (held) => {
      const { finish } = doneOf(await wholeReply(held));
      const reason = arranged(held.replies).finish;
      held.assert.ok([undefined, reason].includes(finish), `${String(finish)}, not ${reason}`);
    },
  },
];

/** The words of the requests' replies and of their messages. */
const bothWords = (replies: readonly (readonly StreamEvent[])[]): string[] =>
  replies.flatMap((events) => [wordsOf(events), messageTexts(doneOf(events).message).join('')]);

const arrangedTwice = ({ replies }: HeldLlm): string[] =>
  [0, 1].map((index) => arrangedWords(arranged(replies, index))).flatMap((text) => [text, text]);

const WORDS: readonly LlmTest[] = [
  {
    scenario: 'words',
    title: 'C2.2 thinks what was sent, or keeps it to itself',
    run: async (held) => {
      const thoughts = (await wholeReply(held)).map((event) =>
        event.kind === 'thinking' ? event.text : '',
      );
      const { thinking } = arranged(held.replies);
      const known = ['', thinking?.text].includes(thoughts.join(''));
      held.assert.ok(known, describeValue(thoughts.join('')));
    },
  },
  {
    scenario: 'words',
    title: 'C2.3 answers the same request again',
    run: async (held) => {
      const heard = [await wholeReply(held), await wholeReply(held)];
      held.assert.deepEqual(bothWords(heard), arrangedTwice(held));
    },
  },
  {
    scenario: 'words',
    title: 'C2.3 answers two requests at once, each by itself',
    run: async (held) => {
      const heard = await Promise.all([wholeReply(held), wholeReply(held)]);
      // Which of two requests comes first to a model is not said.
      held.assert.deepEqual(bothWords(heard).sort(), arrangedTwice(held).sort());
    },
  },
  {
    scenario: 'words',
    title: 'C1.5 leaves the request as it is',
    run: async ({ llm, request, replies, assert }) => {
      const before = structuredClone(request);
      await wholeReply({ llm, request });
      assert.deepEqual(request, before);
      const words = wordsOf(await wholeReply({ llm, request: deepFreeze(request) }));
      assert.equal(words, arrangedWords(arranged(replies, 1)), 'of a frozen request');
    },
  },
  {
    scenario: 'words',
    title: 'X2 leaves no listener on the signal of a reply that was read',
    run: async (held) => {
      const { signal, listeners } = watchedSignal();
      await wholeReply(held, { signal });
      await held.released();
      held.assert.equal(listeners(), 0);
    },
  },
];

const CALLS: readonly LlmTest[] = [
  {
    scenario: 'calls',
    title: 'C1.3 makes all its calls in one message, in order, with their arguments',
    run: async (held) => {
      const { message } = doneOf(await wholeReply(held));
      const asked = ({ name, args }: Readonly<ToolCall>): unknown => [name, args];
      held.assert.deepEqual(
        messageToolCalls(message).map(asked),
        arranged(held.replies).calls.map(asked),
      );
    },
  },
  {
    scenario: 'calls',
    title: 'C2.2 gives each call an id of its own',
    run: async (held) => {
      const ids: readonly unknown[] = toolCallIds(doneOf(await wholeReply(held)).message);
      const named = ids.every((id) => typeof id === 'string' && id !== '');
      held.assert.ok(named && new Set(ids).size === ids.length, ids.map(describeValue).join(', '));
    },
  },
];

/** The signed reasoning of a reply, as the projection gives it back; unsigned there is none. */
function signedThinking(events: readonly StreamEvent[]): ThinkingContent[] {
  const blocks: ThinkingContent[] = [];
  let text = '';
  for (const event of events) {
    if (event.kind !== 'thinking') continue;
    text += event.text;
    const { meta } = event;
    if (meta === undefined || meta === null) continue;
    blocks.push({ type: 'thinking', content: { text, meta } });
    text = '';
  }
  return blocks;
}

/** What follows in the next request: the reply with its signatures, and a result for each call. */
function continued(events: readonly StreamEvent[]): Message[] {
  const { message } = doneOf(events);
  const content = [...signedThinking(events), ...message.content];
  const results = toolCallIds(message).map((id) => toolResultMessage(id, '{"text":"a"}'));
  return [{ ...message, content }, ...results];
}

const SIGNED: readonly LlmTest[] = [
  {
    scenario: 'signed',
    title: 'X10 brings its reasoning signed',
    run: async (held) => {
      const { thinking } = arranged(held.replies);
      const signed = signedThinking(await wholeReply(held)).map(({ content }) => content.text);
      if (thinking?.meta !== undefined) held.assert.deepEqual(signed, [thinking.text]);
    },
  },
  {
    scenario: 'signed',
    title: 'X10 brings its calls signed',
    run: async (held) => {
      const isSigned = ({ meta }: { meta?: unknown }): boolean =>
        meta !== undefined && meta !== null;
      const calls = messageToolCalls(doneOf(await wholeReply(held)).message).map(isSigned);
      held.assert.deepEqual(calls, arranged(held.replies).calls.map(isSigned));
    },
  },
  {
    scenario: 'signed',
    title: 'X10 a signature is JSON, and the same after it was written and read',
    run: async (held) => {
      const events = await wholeReply(held);
      const metas = [
        ...signedThinking(events).map(({ content }) => content.meta),
        ...messageToolCalls(doneOf(events).message).map(({ meta }) => meta ?? null),
      ];
      held.assert.deepEqual(JSON.parse(JSON.stringify(metas)), metas);
    },
  },
  {
    scenario: 'signed',
    title: 'X10 takes back what it signed',
    run: async ({ llm, request, replies, assert }) => {
      const messages = continued(await wholeReply({ llm, request }));
      const next = { ...request, messages: [...request.messages, ...messages] };
      const words = wordsOf(await wholeReply({ llm, request: next }));
      assert.equal(words, arrangedWords(arranged(replies, 1)));
    },
  },
];

const CUT: readonly LlmTest[] = [
  {
    scenario: 'cut',
    title: 'X8 says that its reply was cut',
    run: async (held) => {
      const { finish } = doneOf(await wholeReply(held));
      held.assert.equal(finish, arranged(held.replies).finish);
    },
  },
];

/** What an Llm owes its reader when the model answers. */
export const ANSWERS: readonly LlmTest[] = [
  ...wholeIn('words'),
  ...WORDS,
  ...wholeIn('calls'),
  ...CALLS,
  ...SIGNED,
  ...wholeIn('cut'),
  ...CUT,
];
