import { budgetOf, history, type Entry } from './history.ts';
import { plainTrim, type PlainMessage } from './plain-trim.ts';
import { parameter, serve, timed } from './serve.ts';

function plainMessage(entry: Entry): PlainMessage {
  switch (entry.kind) {
    case 'call':
      return { role: 'assistant', text: entry.name, args: entry.args };
    case 'result':
      return { role: 'tool', text: entry.text };
    default:
      return { role: entry.kind, text: entry.text };
  }
}

serve({
  trim: async (parameters) => {
    const count = parameter(parameters, 'messages');
    const messages = history(count).map(plainMessage);
    const { ms, value } = await timed(() => plainTrim(messages, budgetOf(count)));
    return { ms, kept: value.length };
  },
});
