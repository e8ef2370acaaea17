import { describe, expect, test } from 'vitest';

import { openAICompatibleLlm } from '../src/index.ts';
import { KEY } from './support/provider-streams/good-stream.ts';
import {
  called,
  finished,
  OPENAI,
  reasoned,
  said,
  streamOf,
} from './support/provider-streams/openai.ts';
import { describeProvider, type Provider } from './support/provider-suite.ts';
import { replyOf } from './support/scripted-reply.ts';
import { PICTURE_BASE64, QUESTION, SYSTEM, toolLoopRequests, TOOLS } from './support/tool-loop.ts';

const provider: Provider = {
  title: 'OpenAI chat completions',
  ...OPENAI,
  llm: (endpoint, options = {}) =>
    openAICompatibleLlm({ ...endpoint, ...options, model: 'test-model', apiKey: KEY }),
};

describeProvider(provider);

describe('OpenAI chat completions: the requests of a tool loop', () => {
  const script = [
    streamOf(
      reasoned('first '),
      reasoned('the file'),
      said('I look.'),
      called('call_1', 'read_file', { path: 'docs/日本語.md' }, 0),
      called('call_2', 'add', { a: 1, b: 2.5 }, 1),
      finished('tool_calls'),
    ),
    streamOf(
      reasoned('then the other'),
      called('call_3', 'read_file', { path: 'none.md' }, 0),
      finished('tool_calls'),
    ),
    streamOf(reasoned('enough'), said('It says 第一行.'), finished('stop')),
  ].map((wire) => replyOf(wire));

  const call = (id: string, name: string, args: string): object => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  });

  /** What the three requests say, reasoning included. */
  const first = [
    { role: 'system', content: SYSTEM },
    {
      role: 'user',
      content: [
        { type: 'text', text: QUESTION },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${PICTURE_BASE64}` } },
      ],
    },
  ];
  const second = [
    ...first,
    {
      role: 'assistant',
      content: 'I look.',
      reasoning_content: 'first the file',
      tool_calls: [
        call('call_1', 'read_file', '{"path":"docs/日本語.md"}'),
        call('call_2', 'add', '{"a":1,"b":2.5}'),
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: '"第一行\\nzweite Zeile"' },
    { role: 'tool', tool_call_id: 'call_2', content: '{"sum":3.5}' },
  ];
  const third = [
    ...second,
    {
      role: 'assistant',
      content: null,
      reasoning_content: 'then the other',
      tool_calls: [call('call_3', 'read_file', '{"path":"none.md"}')],
    },
    { role: 'tool', tool_call_id: 'call_3', content: 'Error: none.md does not exist' },
  ];

  const body = (messages: readonly object[]): object => ({
    model: 'test-model',
    stream: true,
    stream_options: { include_usage: true },
    messages,
    tools: TOOLS.map((tool) => ({ type: 'function', function: tool })),
    tool_choice: 'auto',
  });

  test('X10 say what was said, with the reasoning where that is wanted', async () => {
    const requests = await toolLoopRequests(provider, script, { returnReasoning: true });
    expect(requests.map((request) => request.body)).toEqual([first, second, third].map(body));
    for (const { method, path, headers } of requests) {
      expect([method, path]).toEqual(['POST', '/v1/chat/completions']);
      expect(headers).toMatchObject({
        authorization: `Bearer ${KEY}`,
        'content-type': 'application/json',
      });
    }
  });

  test('X10 leave reasoning out that nobody signed and nobody wants', async () => {
    const requests = await toolLoopRequests(provider, script);
    const plain = [first, second, third].map((messages) =>
      body(messages.map((message) => ({ ...message, reasoning_content: undefined }))),
    );
    expect(requests.map((request) => request.body)).toEqual(plain);
  });
});
