import { callTools, say, ScriptedLlm } from '@celestea/agent-loop/testing';
import type { ModelRequest } from '@celestea/core';

/** The line under a question. */
export const CHOICES = 'allow? [y]es / [n]o, because… / [a]lways for this tool';

/** A call that writes a file. */
export const write = (
  id: string,
  path: string,
  content = 'tea\n',
): { id: string; name: string; args: unknown } => ({
  id,
  name: 'write_file',
  args: { path, content },
});

type Calls = Parameters<typeof callTools>;

/** A model that makes these calls, a step each, and then says that it is done. */
export const caller = (...steps: readonly Calls[]): ScriptedLlm =>
  new ScriptedLlm([...steps.map((calls) => callTools(...calls)), say('Done.')]);

/** What the model read of its last calls. */
export const lastResults = (request: ModelRequest | undefined): string =>
  JSON.stringify(request?.messages.filter(({ role }) => role === 'tool'));
