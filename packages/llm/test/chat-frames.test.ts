import { LlmError, messageToolCalls, type ToolCall } from '@celestea/core';
import { describe, expect, test } from 'vitest';

import { openAICompatibleLlm } from '../src/index.ts';
import { finished, said, streamOf } from './support/provider-streams/openai.ts';
import { nameMadeIds, read, type Reading } from './support/reading.ts';
import { scriptedFetch } from './support/scripted-fetch.ts';
import { byteByByte, bytesOf, replyOf, type ScriptedReply } from './support/scripted-reply.ts';

/** A piece of a call, as a server sends it. */
interface Piece {
  readonly index?: unknown;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: string | null };
}

/** A frame with pieces of calls. */
const frame = (...tool_calls: readonly Piece[]): string =>
  `data: ${JSON.stringify({ choices: [{ delta: { tool_calls }, finish_reason: null }] })}\n\n`;

/** A piece with a name; `beside` is its index and its id, as far as it has them. */
const named = (name: string, args: string | null, beside: Piece = {}): Piece => ({
  ...beside,
  function: { name, arguments: args },
});

/** A piece that has arguments alone. */
const more = (args: string | null, beside: Piece = {}): Piece => ({
  ...beside,
  function: { arguments: args },
});

const call = (id: string, name: string, args: unknown): ToolCall => ({ id, name, args });

const LIST = call('A', 'list', { path: 'a' });
const DROP = call('B', 'drop', { only: 'b' });
const PAY = call('A', 'pay', { eur: 5 });

/** What two calls of these pieces are sent as, by servers that say nothing but where one begins. */
const twoCalls = (index: object, first: object, second: object): string[] => [
  frame({ ...index, ...first, function: { name: 'list', arguments: '' } }),
  frame(more('{"path"', index)),
  frame(more(':"a"}', index)),
  frame({ ...index, ...second, function: { name: 'drop', arguments: '' } }),
  frame(more('{"only":', index), more('"b"}', index)),
];

const IDS = [{ id: 'A' }, { id: 'B' }] as const;
const MADE = [call('made-1', 'list', { path: 'a' }), call('made-2', 'drop', { only: 'b' })];

async function asking(reply: ScriptedReply): Promise<Reading> {
  const { fetch } = scriptedFetch([reply]);
  return read(openAICompatibleLlm({ baseURL: 'http://127.0.0.1:9/v1', model: 'm', fetch }));
}

/** The calls of a reply, those without an id of the server's own as `made-1`, `made-2`… */
function callsOf({ events, error }: Reading): ToolCall[] {
  expect(error).toBe(null);
  const done = nameMadeIds(events, new Set(['A', 'B'])).at(-1);
  return done?.kind === 'done' ? messageToolCalls(done.message) : [];
}

describe('the pieces of calls', () => {
  test.each<[string, readonly string[], readonly ToolCall[]]>([
    ['no index', twoCalls({}, ...IDS), [LIST, DROP]],
    ['no index and no ids', twoCalls({}, {}, {}), MADE],
    ['an index of null', twoCalls({ index: null }, ...IDS), [LIST, DROP]],
    ['a text as index', twoCalls({ index: 'first' }, ...IDS), [LIST, DROP]],
    ['an index below 0', twoCalls({ index: -1 }, ...IDS), [LIST, DROP]],
    ['index 0 for all', twoCalls({ index: 0 }, ...IDS), [LIST, DROP]],
    ['index 0 for all and no ids, but a new name', twoCalls({ index: 0 }, {}, {}), MADE],
    ['index 0 for all and empty ids', twoCalls({ index: 0 }, { id: '' }, { id: ' ' }), MADE],
    [
      'interleaved pieces under their indexes',
      [
        frame(named('list', '', { index: 0, id: 'A' }), named('drop', null, { index: 1, id: 'B' })),
        frame(more('{"only"', { index: 1 }), more('{"pa', { index: 0 })),
        frame(more(':"b"}', { index: 1 })),
        frame(more('th":"a"}', { index: 0 })),
      ],
      [LIST, DROP],
    ],
    [
      'interleaved pieces under indexes that are texts',
      [
        frame(named('list', '', { index: '0', id: 'A' })),
        frame(named('drop', '', { index: '1', id: 'B' })),
        frame(more('{"path":"a"}', { index: '0' }), more('{"only":"b"}', { index: '1' })),
      ],
      [LIST, DROP],
    ],
    [
      'indexes that begin with the second',
      [
        frame(named('drop', '{"only":"b"}', { index: 1, id: 'B' })),
        frame(named('list', '{"path":"a"}', { index: 0, id: 'A' })),
      ],
      [LIST, DROP],
    ],
    [
      'interleaved pieces that repeat their ids, under index 0 for all',
      [
        frame(named('list', '', { index: 0, id: 'A' }), named('drop', '', { index: 0, id: 'B' })),
        frame(more('{"pa', { index: 0, id: 'A' }), more('{"only"', { index: 0, id: 'B' })),
        frame(more('th":"a"}', { index: 0, id: 'A' }), more(':"b"}', { index: 0, id: 'B' })),
      ],
      [LIST, DROP],
    ],
    [
      'pieces that repeat the id',
      [
        frame(named('list', '{"path"', { index: 0, id: 'A' })),
        frame(more(':"a"}', { index: 0, id: 'A' })),
        frame(named('drop', '', { id: 'B' }), more('{"only":"b"}', { id: 'B' })),
      ],
      [LIST, DROP],
    ],
    [
      'pieces that repeat the id under an index that counts them',
      [
        frame(named('list', '{"path"', { index: 0, id: 'A' })),
        frame(more(':"a', { index: 1, id: 'A' })),
        frame(more('"}', { index: 1 })),
      ],
      [LIST],
    ],
    [
      'pieces that repeat id and name',
      ['', '{"path"', ':"a', '"}', ''].map((args) =>
        frame(named('list', args, { index: 0, id: 'A' })),
      ),
      [LIST],
    ],
    [
      'pieces that repeat the name, without id and index',
      ['', '{"path":', '"a"}'].map((args) => frame(named('list', args))),
      [call('made-1', 'list', { path: 'a' })],
    ],
    [
      'an id made up for each piece',
      [
        frame(named('list', '', { index: 0, id: 'A' })),
        frame(more('{"path"', { index: 0, id: 'x1' })),
        frame(more(':"a"}', { index: 0, id: 'x2' })),
        frame(named('drop', '', { index: 1, id: 'B' })),
        frame(more('{"only":"b"}', { index: 1, id: 'x3' })),
      ],
      [LIST, DROP],
    ],
    [
      'the id first, and the name behind it',
      [
        frame({ index: 0, id: 'A' }),
        frame(named('list', '{"path":"a"}', { index: 0 })),
        frame({ id: 'B', function: { name: '' } }),
        frame(named('drop', '{"only"'), more(':"b"}')),
      ],
      [LIST, DROP],
    ],
    [
      'the name first, and the id behind it',
      [
        frame(named('list', '', { index: 0 })),
        frame(more('{"path"', { index: 0, id: 'X' }), more(':"a"}', { id: 'X' })),
      ],
      [call('made-1', 'list', { path: 'a' })],
    ],
    [
      'whole calls in one frame, without index',
      [frame(named('list', '{"path":"a"}', IDS[0]), named('drop', '{"only":"b"}', IDS[1]))],
      [LIST, DROP],
    ],
    [
      'whole calls in one frame, without index and id, two of the same name',
      [frame(named('list', '{"path":"a"}'), named('list', '{}'), named('list', '{"path":"a"}'))],
      [{ path: 'a' }, {}, { path: 'a' }].map((args, at) =>
        call(`made-${String(at + 1)}`, 'list', args),
      ),
    ],
    [
      'calls of the same name one after the other, without index and id',
      ['{"path":"a"}', '{"only":"b"}'].flatMap((args) => [
        frame(named('list', '')),
        frame(more(args)),
      ]),
      [call('made-1', 'list', { path: 'a' }), call('made-2', 'list', { only: 'b' })],
    ],
    [
      'braces in a text of the arguments that look like those of another call',
      ['{"path":"a}', '{', '}"}'].map((args) => frame(named('list', args, { index: 0, id: 'A' }))),
      [call('A', 'list', { path: 'a}{}' })],
    ],
    [
      'pieces that say nothing, before all calls and behind them',
      [frame(more('', { index: 0 }), more(null)), ...twoCalls({ index: 0 }, ...IDS)].concat(
        frame(more(' ', { index: 0 }), { index: 7 }),
      ),
      [LIST, DROP],
    ],
    ['a call that has no arguments', [frame(named('list', '', IDS[0]))], [call('A', 'list', {})]],
  ])('X11 %s', async (_, frames, calls) => {
    const wire = streamOf(said('Hm.'), ...frames, finished('tool_calls'));
    expect(callsOf(await asking(replyOf(wire)))).toEqual(calls);
    expect(callsOf(await asking({ pieces: byteByByte(bytesOf(wire)) }))).toEqual(calls);
  });

  const [begun, filled] = [
    frame(named('list', '', { index: 0, id: 'A' })),
    frame(more('{"path":"a"}', { index: 0 })),
  ];
  const second = frame(named('drop', '', { index: 0, id: 'B' }));

  test.each<[string, readonly string[]]>([
    ['a piece before any call', [frame(more('{"path":"a"}')), begun]],
    ['a piece before any call, with an index', [filled, begun]],
    ['a piece under an index that no call has', [begun, frame(more('{"only":"b"}', { index: 1 }))]],
    ['arguments that begin a second time', [begun, filled, filled]],
    [
      'arguments that begin a second time, with an id that no call has',
      [begun, filled, frame(more('{"only":"b"}', { index: 0, id: 'x1' }))],
    ],
    [
      'an id and an index that are of two calls',
      [begun, frame(named('drop', '', { index: 1, id: 'B' }), more('{}', { index: 1, id: 'A' }))],
    ],
    [
      'an index of two calls, behind a piece of the first',
      [begun, second, frame(more('{"path"', { index: 0, id: 'A' }), more(':"a"}', { index: 0 }))],
    ],
    [
      'pieces of two calls by turns, and nothing that tells them apart',
      [
        frame(named('list', ''), named('drop', '')),
        frame(more('{"path"'), more('{"only"')),
        frame(more(':"a"}'), more(':"b"}')),
      ],
    ],
    ['a call that is never named', [frame({ id: 'A' }), frame(more('{"path":"a"}'))]],
    ['the middle of a call as the end of the stream', [begun, frame(more('{"pa', { index: 0 }))]],
  ])('C2.4 %s: the reply is torn, and worth another try', async (title, frames) => {
    const end = title.startsWith('the middle') ? [] : [finished('tool_calls')];
    const { events, error } = await asking(replyOf([said('Hm.'), ...frames, ...end].join('')));
    expect(events.map(({ kind }) => kind)).not.toContain('done');
    expect(error).toBeInstanceOf(LlmError);
    expect(error).toMatchObject({ kind: 'stream', retryable: true });
  });
});

describe('a call that comes again in the same reply', () => {
  const whole = (index: number, args = '{"eur":5}', name = 'pay'): string =>
    frame(named(name, args, { index, id: 'A' }));
  const inPieces = (index: number): string =>
    ['', '{"eur"', ':5}'].map((args) => frame(more(args, { index }))).join('');

  test.each<[string, readonly string[]]>([
    ['as a whole at the end', [whole(0, ''), inPieces(0), whole(0)]],
    ['in pieces at the end', [whole(0, ''), inPieces(0), whole(0, ''), inPieces(0)]],
    ['under another index', [whole(0), whole(1)]],
    ['in pieces under another index', [whole(0), whole(1, ''), inPieces(1)]],
    ['with its id, without its name', [whole(0), frame(more('{"eur":5}', { index: 0, id: 'A' }))]],
    ['without an index', [whole(0), frame(named('pay', '{"eur":5}', IDS[0]))]],
    [
      'three times, written in other ways',
      [whole(0), whole(1, ' {"eur": 5.0}'), whole(2, '{"eur":5e0}')],
    ],
  ])('X11 %s is one', async (_, frames) => {
    const reply = replyOf(streamOf(...frames, finished('tool_calls')));
    expect(callsOf(await asking(reply))).toEqual([PAY]);
  });

  test.each<[string, readonly string[], ToolCall]>([
    ['other arguments', [whole(0), whole(0, '{"eur":6}')], call('A', 'pay', { eur: 6 })],
    ['other arguments, elsewhere', [whole(0), whole(1, '{}')], call('A', 'pay', {})],
    ['another name', [whole(0), whole(0, '{"eur":5}', 'get')], call('A', 'get', { eur: 5 })],
    ['another id', [whole(0), frame(named('pay', '{"eur":5}', IDS[1]))], { ...PAY, id: 'B' }],
  ])('X11 with %s is another one', async (_, frames, other) => {
    const reply = replyOf(streamOf(...frames, finished('tool_calls')));
    expect(callsOf(await asking(reply))).toEqual([PAY, other]);
  });

  test('X11 two calls of one id, interleaved under their indexes, are two', async () => {
    const frames = [whole(0, ''), whole(1, '')].concat(
      frame(more('{"eur":', { index: 0 }), more('{"eur":', { index: 1, id: 'A' })),
      frame(more('5}', { index: 0 }), more('6}', { index: 1, id: 'A' })),
    );
    const reply = replyOf(streamOf(...frames, finished('tool_calls')));
    expect(callsOf(await asking(reply))).toEqual([PAY, call('A', 'pay', { eur: 6 })]);
  });
});
