import {
  AIMessage,
  HumanMessage,
  ToolMessage,
  trimMessages,
  type BaseMessage,
} from '@langchain/core/messages';

import { budgetOf, history, type Entry } from '../workers/history.ts';
import { priceOf } from '../workers/plain-trim.ts';
import { parameter, serve, timed } from '../workers/serve.ts';

function messageOf(entry: Entry): BaseMessage {
  switch (entry.kind) {
    case 'call': {
      const { id, name, args } = entry;
      return new AIMessage({ content: '', tool_calls: [{ type: 'tool_call', id, name, args }] });
    }
    case 'result':
      return new ToolMessage({ content: entry.text, tool_call_id: entry.id });
    case 'user':
      return new HumanMessage(entry.text);
    case 'assistant':
      return new AIMessage(entry.text);
    default:
      return entry satisfies never;
  }
}

/** The same price as everywhere; each message is priced once, as a careful caller would. */
function tokenCounter(): (messages: BaseMessage[]) => number {
  const prices = new WeakMap<BaseMessage, number>();
  return (messages) => {
    let sum = 0;
    for (const message of messages) {
      let price = prices.get(message);
      if (price === undefined) {
        const args = AIMessage.isInstance(message) ? message.tool_calls?.[0]?.args : undefined;
        price = priceOf({ role: 'user', text: message.text, args });
        prices.set(message, price);
      }
      sum += price;
    }
    return sum;
  };
}

serve({
  trim: async (parameters) => {
    const count = parameter(parameters, 'messages');
    const messages = history(count).map(messageOf);
    const { ms, value } = await timed(() =>
      trimMessages(messages, {
        maxTokens: budgetOf(count),
        tokenCounter: tokenCounter(),
        strategy: 'last',
        startOn: 'human',
      }),
    );
    return { ms, kept: value.length };
  },
});
