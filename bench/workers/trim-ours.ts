import { DefaultAgentLoop, defaultAgentConfig, trimContext } from '@celestea/agent-loop';
import {
  assistantText,
  assistantToolCall,
  Context,
  SESSION_LOG_SERVICE,
  TOOL_REGISTRY_SERVICE,
  toolResultMessage,
  userMessage,
  type Message,
  type SessionEvent,
} from '@celestea/core';
import { InMemorySessionLog } from '@celestea/session';
import { DefaultToolRegistry } from '@celestea/tools';

import { budgetOf, history, type Entry } from './history.ts';
import { parameter, serve, timed } from './serve.ts';

/** Messages by which the history grows from one request to the next. */
const GROWTH = 10;
/** So many that the budget alone decides, as it does everywhere else. */
const KEEP_RECENT = Number.MAX_SAFE_INTEGER;

function messageOf(entry: Entry): Message {
  switch (entry.kind) {
    case 'call': {
      const { id, name, args } = entry;
      return assistantToolCall({ id, name, args });
    }
    case 'result':
      return toolResultMessage(entry.id, entry.text);
    case 'user':
      return userMessage(entry.text);
    case 'assistant':
      return assistantText(entry.text);
    default:
      return entry satisfies never;
  }
}

function rowOf(entry: Entry): SessionEvent {
  switch (entry.kind) {
    case 'call': {
      const { id, name, args } = entry;
      return { type: 'tool_call', id, name, args };
    }
    case 'result':
      return { type: 'tool_result', id: entry.id, value: entry.text, error: null };
    case 'user':
      return { type: 'user_message', text: entry.text };
    case 'assistant':
      return { type: 'assistant_message', text: entry.text };
    default:
      return entry satisfies never;
  }
}

serve({
  trim: async (parameters) => {
    const count = parameter(parameters, 'messages');
    const budget = budgetOf(count);
    const messages = history(count).map(messageOf);
    const first = await timed(() => trimContext(messages, 0, budget, 1, KEEP_RECENT));
    const grown = [...messages, ...history(GROWTH, count).map(messageOf)];
    const next = await timed(() => trimContext(grown, 0, budget, 1, KEEP_RECENT));
    const kept = first.value.messages.length;
    return { ms: first.ms, nextMs: next.ms, kept };
  },
  snapshot: async (parameters) => {
    const count = parameter(parameters, 'messages');
    const log = new InMemorySessionLog(history(count).map(rowOf));
    const ctx = Context.root()
      .provide(SESSION_LOG_SERVICE, log)
      .provide(TOOL_REGISTRY_SERVICE, new DefaultToolRegistry());
    const loop = new DefaultAgentLoop(
      defaultAgentConfig({
        system_prompt: '',
        context_window_tokens: budgetOf(count),
        context_trim_threshold: 1,
        context_keep_recent: KEEP_RECENT,
      }),
    );
    const first = await timed(() => loop.contextSnapshot(ctx));
    for (const entry of history(GROWTH, count)) log.append(rowOf(entry));
    const next = await timed(() => loop.contextSnapshot(ctx));
    return { ms: first.ms, nextMs: next.ms, kept: first.value.messages.length };
  },
});
