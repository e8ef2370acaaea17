import { pruneMessages, type ModelMessage } from 'ai';

import { history, type Entry } from '../workers/history.ts';
import { parameter, serve, timed } from '../workers/serve.ts';

function messageOf(entry: Entry): ModelMessage {
  switch (entry.kind) {
    case 'call': {
      const { id: toolCallId, name: toolName, args: input } = entry;
      return { role: 'assistant', content: [{ type: 'tool-call', toolCallId, toolName, input }] };
    }
    case 'result': {
      const { id: toolCallId, name: toolName, text: value } = entry;
      const output = { type: 'text' as const, value };
      return { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] };
    }
    default:
      return { role: entry.kind, content: entry.text };
  }
}

type BeforeLast = `before-last-${number}-messages`;

const beforeLast = (count: number): BeforeLast =>
  `before-last-${String(count)}-messages` as BeforeLast;

serve({
  /** It counts no tokens: what it drops is the tool calls before the last half. */
  trim: async (parameters) => {
    const count = parameter(parameters, 'messages');
    const messages = history(count).map(messageOf);
    const toolCalls = beforeLast(Math.floor(count / 2));
    const { ms, value } = await timed(() => pruneMessages({ messages, toolCalls }));
    return { ms, kept: value.length };
  },
});
