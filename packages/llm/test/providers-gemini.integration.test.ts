import { describe, expect, test } from 'vitest';

import { called, finished, reasoned, said } from './support/provider-streams/gemini.ts';
import { KEY } from './support/provider-streams/good-stream.ts';
import { describeProvider } from './support/provider-suite.ts';
import { geminiProvider } from './support/providers.ts';
import { replyOf } from './support/scripted-reply.ts';
import { PICTURE_BASE64, QUESTION, SYSTEM, toolLoopRequests, TOOLS } from './support/tool-loop.ts';

describeProvider(geminiProvider);

describe('Gemini: the requests of a tool loop', () => {
  const script = [
    [
      reasoned('first the file'),
      said('I look.'),
      called('read_file', { path: 'docs/日本語.md' }, { id: 'fc-1', signature: 'c2lnLTE=' }),
      called('add', { a: 1, b: 2.5 }, { id: 'fc-2' }),
      finished('STOP'),
    ],
    [
      reasoned('then the other', 'c2lnLXQ='),
      called('read_file', { path: 'none.md' }, { id: 'fc-3', signature: 'c2lnLTI=' }),
      finished('STOP'),
    ],
    [said('It says 第一行.'), finished('STOP')],
  ].map((events) => replyOf(events.join('')));

  const call = (id: string, name: string, args: object): object => ({
    functionCall: { id, name, args },
  });
  const result = (id: string, name: string, content: string): object => ({
    functionResponse: { id, name, response: { name, content } },
  });
  const first = [
    {
      role: 'user',
      parts: [
        { text: QUESTION },
        { inlineData: { mimeType: 'image/png', data: PICTURE_BASE64 } },
      ],
    },
  ];
  const second = [
    ...first,
    {
      role: 'model',
      parts: [
        { text: 'I look.' },
        {
          ...call('fc-1', 'read_file', { path: 'docs/日本語.md' }),
          thoughtSignature: 'c2lnLTE=',
        },
        call('fc-2', 'add', { a: 1, b: 2.5 }),
      ],
    },
    {
      role: 'user',
      parts: [
        result('fc-1', 'read_file', '"第一行\\nzweite Zeile"'),
        result('fc-2', 'add', '{"sum":3.5}'),
      ],
    },
  ];
  const third = [
    ...second,
    {
      role: 'model',
      parts: [
        { text: 'then the other', thought: true, thoughtSignature: 'c2lnLXQ=' },
        { ...call('fc-3', 'read_file', { path: 'none.md' }), thoughtSignature: 'c2lnLTI=' },
      ],
    },
    { role: 'user', parts: [result('fc-3', 'read_file', 'Error: none.md does not exist')] },
  ];

  test('X10 return the signatures of calls and thoughts, and no thought without one', async () => {
    const requests = await toolLoopRequests(geminiProvider, script);
    expect(requests.map((request) => request.body)).toEqual(
      [first, second, third].map((contents) => ({
        systemInstruction: { parts: [{ text: SYSTEM }] },
        contents,
        generationConfig: {},
        tools: [{ functionDeclarations: TOOLS }],
        toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
      })),
    );
    for (const { method, path, headers } of requests) {
      const model = '/v1/models/gemini-3-test:streamGenerateContent?alt=sse';
      expect([method, path]).toEqual(['POST', model]);
      expect(headers).toMatchObject({ 'x-goog-api-key': KEY, 'content-type': 'application/json' });
    }
  });
});
