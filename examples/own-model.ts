// A model of your own: an object with `generate`, which resolves with a stream of events.
import { assistantText, messageText, type Llm, type StreamEvent } from '@celestea/core';
import { DefaultAgentLoop, defaultAgentConfig } from '@celestea/agent-loop';
import { collectingSink, testContext } from '@celestea/agent-loop/testing';

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

const { sink, events } = collectingSink();
const loop = new DefaultAgentLoop(defaultAgentConfig(), { sink });
console.log(await loop.runTurnOutcome(testContext({ llm: shoutingModel }), 'hello there'));
console.log(events.map((event) => (event.kind === 'text' ? event.delta : `<${event.kind}>`)));
