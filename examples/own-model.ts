// A model of your own: an object with `generate`, which resolves with a stream of events.
import {
  assistantText,
  Context,
  LLM_SERVICE,
  mountPlugins,
  messageText,
  type Llm,
  type StreamEvent,
} from '@celestea/core';
import { DefaultAgentLoop, defaultAgentConfig } from '@celestea/agent-loop';
import { inMemorySessionLogPlugin } from '@celestea/session';
import { toolRegistryPlugin } from '@celestea/tools';

const shoutingModel: Llm = {
  generate(request) {
    async function* reply(): AsyncGenerator<StreamEvent> {
      const last = request.messages.at(-1);
      const text = (last === undefined ? null : messageText(last))?.toUpperCase() ?? 'WHAT?';
      for (const word of text.split(/(?<= )/)) {
        await Promise.resolve(); // a real model waits for its network here
        yield { kind: 'text', text: word };
      }
      yield { kind: 'done', message: assistantText(text) };
    }
    return Promise.resolve(reply());
  },
};

const ctx = mountPlugins(Context.root(), [inMemorySessionLogPlugin(), toolRegistryPlugin()]);
ctx.provide(LLM_SERVICE, shoutingModel);

const turn = new DefaultAgentLoop(defaultAgentConfig()).streamTurn(ctx, 'hello there');
for await (const event of turn) {
  console.log(event.kind === 'text' ? event.delta : `<${event.kind}>`);
}
console.log(await turn.outcome);
