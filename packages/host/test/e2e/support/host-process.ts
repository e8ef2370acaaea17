import process from 'node:process';

import { done, ScriptedLlm } from '@celestea/agent-loop/testing';
import { defaultAgentConfig } from '@celestea/core';

import { createHost, serveHost } from '../../../src/index.ts';
import type { Life } from './killable-host.ts';
import { toolSet } from './tool-set.ts';

/** The program of a host that is killed: it plays the replies of its life, and listens. */
const { folder, token, page, port, replies } = JSON.parse(process.argv[2] ?? '') as Life;

const scripts = replies.map(({ text, hangs }) => [
  { kind: 'text' as const, text },
  () => (hangs ? new Promise(() => undefined) : null),
  done(text),
]);
const parts = {
  llm: new ScriptedLlm(scripts),
  tools: toolSet({}),
  config: defaultAgentConfig({ model: 'scripted' }),
};
const served = await serveHost(createHost({ folder, token, page, parts }), { port });
process.on('disconnect', () => {
  process.exit(); // whoever started it is gone
});
process.send?.(served.address.port);
