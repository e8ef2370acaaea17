// A host that composes its services as plugins and finds the loop in its Context.
import { AGENT_LOOP_SERVICE, Context, mountPlugins } from '@celestea/core';
import { agentLoopPlugin, defaultAgentConfig, type EventSink } from '@celestea/agent-loop';
import { offlineLlmPlugin } from '@celestea/offline';
import { inMemorySessionLogPlugin } from '@celestea/session';
import { fileTools, toolRegistryPlugin } from '@celestea/tools';

const config = defaultAgentConfig({ max_steps: 8 });
const sink: EventSink = (event) => {
  if (event.kind === 'text') process.stdout.write(event.delta);
};

const host = mountPlugins(Context.root(), [
  agentLoopPlugin(config, { sink }), // the services it needs may come later
  inMemorySessionLogPlugin(),
  toolRegistryPlugin(fileTools(import.meta.dirname)),
  offlineLlmPlugin(),
]);

await host.require(AGENT_LOOP_SERVICE).runTurn(host, 'list the files in this folder');
console.log();
