// A turn called directly, with a fake model: what a unit test or a script does.
import { Context, LLM_SERVICE, SESSION_LOG_SERVICE, TOOL_REGISTRY_SERVICE } from '@celestea/core';
import { DefaultAgentLoop, defaultAgentConfig } from '@celestea/agent-loop';
import { callTools, say, ScriptedLlm } from '@celestea/agent-loop/testing';
import { InMemorySessionLog } from '@celestea/session';
import { DefaultToolRegistry, defineTool } from '@celestea/tools';

const tools = new DefaultToolRegistry();
tools.register(
  defineTool({
    name: 'add',
    description: 'Adds two numbers.',
    parameters: {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      required: ['a', 'b'],
    },
    execute: ({ a, b }) => a + b,
  }),
);

const log = new InMemorySessionLog();
const model = new ScriptedLlm([
  callTools({ id: 'call-1', name: 'add', args: { a: 2, b: 3 } }),
  say('Two and three are five.'),
]);

const ctx = Context.root()
  .provide(LLM_SERVICE, model)
  .provide(SESSION_LOG_SERVICE, log)
  .provide(TOOL_REGISTRY_SERVICE, tools);

const outcome = await new DefaultAgentLoop(defaultAgentConfig()).runTurnOutcome(ctx, '2 + 3?');

console.log(outcome);
for (const row of log.events()) console.log(JSON.stringify(row));
