import { describe, expect, test } from 'vitest';

import {
  called,
  reasoned,
  redacted,
  said,
  started,
  stopped,
} from './support/provider-streams/anthropic.ts';
import { KEY } from './support/provider-streams/good-stream.ts';
import { describeProvider } from './support/provider-suite.ts';
import { anthropicProvider } from './support/providers.ts';
import { replyOf } from './support/scripted-reply.ts';
import { PICTURE_BASE64, QUESTION, SYSTEM, toolLoopRequests, TOOLS } from './support/tool-loop.ts';

describeProvider(anthropicProvider);

describe('Anthropic messages: the requests of a tool loop', () => {
  const script = [
    [
      started(),
      reasoned(0, 'c2lnLTE=', 'first ', 'the file'),
      redacted(1, 'aGlkZGVu'),
      said(2, 'I look.'),
      called(3, 'toolu_1', 'read_file', '{"path":"docs/日本語.md"}'),
      called(4, 'toolu_2', 'add', '{"a":1,"b":2.5}'),
      stopped('tool_use'),
    ],
    [
      started(),
      reasoned(0, 'c2lnLTI=', 'then the other'),
      called(1, 'toolu_3', 'read_file', '{"path":"none.md"}'),
      stopped('tool_use'),
    ],
    [started(), said(0, 'It says 第一行.'), stopped('end_turn')],
  ].map((events) => replyOf(events.join('')));

  const result = (tool_use_id: string, content: string): object => ({
    type: 'tool_result',
    tool_use_id,
    content,
  });
  const first = [
    {
      role: 'user',
      content: [
        { type: 'text', text: QUESTION },
        {
          type: 'image',
          source: { type: 'base64', media_type: 'image/png', data: PICTURE_BASE64 },
        },
      ],
    },
  ];
  const second = [
    ...first,
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'first the file', signature: 'c2lnLTE=' },
        { type: 'redacted_thinking', data: 'aGlkZGVu' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: { path: 'docs/日本語.md' } },
        { type: 'tool_use', id: 'toolu_2', name: 'add', input: { a: 1, b: 2.5 } },
      ],
    },
    {
      role: 'user',
      content: [
        result('toolu_1', '"第一行\\nzweite Zeile"'),
        result('toolu_2', '{"sum":3.5}'),
      ],
    },
  ];
  const third = [
    ...second,
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'then the other', signature: 'c2lnLTI=' },
        { type: 'tool_use', id: 'toolu_3', name: 'read_file', input: { path: 'none.md' } },
      ],
    },
    { role: 'user', content: [result('toolu_3', 'Error: none.md does not exist')] },
  ];

  test('X10 return signed and redacted reasoning in front, the results first', async () => {
    const requests = await toolLoopRequests(anthropicProvider, script);
    expect(requests.map((request) => request.body)).toEqual(
      [first, second, third].map((messages) => ({
        model: 'claude-sonnet-4-5',
        stream: true,
        max_tokens: 64_000, // all that this model can
        system: [{ type: 'text', text: SYSTEM }],
        messages,
        tools: TOOLS.map(({ parameters, ...tool }) => ({
          ...tool,
          input_schema: parameters,
          eager_input_streaming: true,
        })),
        tool_choice: { type: 'auto' },
      })),
    );
    for (const { method, path, headers } of requests) {
      expect([method, path]).toEqual(['POST', '/v1/messages']);
      expect(headers).toMatchObject({ 'x-api-key': KEY, 'content-type': 'application/json' });
    }
  });
});
