import { describe, expect, test } from 'vitest';

import { openAICompatibleLlm } from '../src/index.ts';
import { KEY } from './support/provider-streams/good-stream.ts';
import {
  called,
  calling,
  finished,
  reasoned,
  said,
  streamOf,
} from './support/provider-streams/openai.ts';
import { describeProvider, type Provider } from './support/provider-suite.ts';
import { openAIProvider } from './support/providers.ts';
import { replyOf } from './support/scripted-reply.ts';
import { PICTURE_BASE64, QUESTION, SYSTEM, toolLoopRequests, TOOLS } from './support/tool-loop.ts';

describeProvider(openAIProvider);

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
    const requests = await toolLoopRequests(openAIProvider, script, { returnReasoning: true });
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
    const requests = await toolLoopRequests(openAIProvider, script);
    const plain = [first, second, third].map((messages) =>
      body(messages.map((message) => ({ ...message, reasoning_content: undefined }))),
    );
    expect(requests.map((request) => request.body)).toEqual(plain);
  });

  test.each(['openaiCompatible', 'google', 'deepseek', 'my-server'])(
    'X10 bring the signature of a call back to where it stood, from a server called %s',
    async (name) => {
      const named: Provider = {
        ...openAIProvider,
        llm: (endpoint, options = {}) =>
          openAICompatibleLlm({ ...endpoint, ...options, model: 'test-model', apiKey: KEY, name }),
      };
      const extra_content = { google: { thought_signature: 'c2lnbmVk+/8=' } };
      const json = '{"path":"none.md"}';
      const signed = calling('call_1', 'read_file', json, 0, { extra_content });
      const requests = await toolLoopRequests(named, [
        replyOf(streamOf(signed, finished('tool_calls'))),
        replyOf(streamOf(said('There is none.'), finished('stop'))),
      ]);
      const tool_calls = [{ ...call('call_1', 'read_file', json), extra_content }];
      const content = 'Error: none.md does not exist';
      const asked = [
        { role: 'assistant', content: null, tool_calls },
        { role: 'tool', tool_call_id: 'call_1', content },
      ];
      expect(requests[1]?.body).toEqual(body([...first, ...asked]));
    },
  );
});
