import { defaultAgentConfig, type ImageRef } from '@celestea/core';
import { expect } from 'vitest';

// By path: neither is a dependency of this package.
import { DefaultAgentLoop } from '../../../../src/index.ts';
import { assertLogValid, FakeSessionLog, testContext } from '../../../../src/testing/index.ts';
import { DefaultToolRegistry, defineTool } from '../../../tools/src/index.ts';
import type { AiSdkLlmOptions, AttachmentReader } from '../../src/index.ts';
import { startModelServer } from './model-server.ts';
import { endpointOf, type Provider } from './provider-suite.ts';
import type { RecordedRequest, ScriptedReply } from './scripted-reply.ts';

const PICTURE: ImageRef = {
  attachment_id: 'ab'.repeat(32),
  media_type: 'image/png',
  width: 2,
  height: 2,
};

/** What stands for the bytes of a picture, and the same in base64. */
const PICTURE_BYTES = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a);
export const PICTURE_BASE64 = 'iVBORw0K';

const ATTACHMENTS: AttachmentReader = {
  read: ({ attachment_id }) =>
    Promise.resolve(attachment_id === PICTURE.attachment_id ? PICTURE_BYTES : null),
};

export const SYSTEM = 'You are celestea. 你好';
export const QUESTION = 'What does the picture say? 🔎';

const readFile = {
  name: 'read_file',
  description: 'The text of a file.',
  parameters: {
    type: 'object',
    properties: { path: { type: 'string', description: 'From the root.' } },
    required: ['path'],
  },
} as const;

const add = {
  name: 'add',
  description: 'The sum of two numbers.',
  parameters: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
} as const;

/** The tools as a model is told of them, in the order of a request. */
export const TOOLS = [add, readFile] as const;

/**
 * What the provider is asked in one turn with a picture: through the loop, with tools that run,
 * on a fresh log. The turn has to be completed.
 */
export async function toolLoopRequests(
  provider: Provider,
  script: readonly ScriptedReply[],
  options: AiSdkLlmOptions = {},
): Promise<readonly RecordedRequest[]> {
  const server = await startModelServer(script);
  const llm = provider.llm(endpointOf(server), { ...options, attachments: ATTACHMENTS });
  const tools = new DefaultToolRegistry();
  tools.register(defineTool({ ...add, execute: ({ a, b }) => ({ sum: a + b }) }));
  const execute = ({ path }: { path: string }): string => {
    if (path !== 'docs/日本語.md') throw new Error(`${path} does not exist`);
    return '第一行\nzweite Zeile';
  };
  tools.register(defineTool({ ...readFile, execute }));
  const log = new FakeSessionLog();
  const config = defaultAgentConfig({ model: 'test-model', system_prompt: SYSTEM });
  const ctx = testContext({ llm, log, tools });
  const outcome = await new DefaultAgentLoop(config).runTurnOutcome(ctx, QUESTION, [PICTURE]);
  expect(outcome).toBe('completed');
  assertLogValid(log.rows);
  await server.settled();
  return server.requests;
}
