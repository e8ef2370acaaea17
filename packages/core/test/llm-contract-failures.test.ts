import { LlmError, type Content } from '@celestea/core';
import { describe, expect, test } from 'vitest';

import {
  abort,
  asking,
  buffered,
  changed,
  deaf,
  done,
  ENDED,
  events,
  hearing,
  reading,
  refusal,
  refused,
  streamOf,
  tear,
  throwing,
  unheardAbort,
  type Bend,
} from './bent-llm.ts';
import { faultsOf, type Fault } from './llm-contract-run.ts';
import {
  FAIL_QUIETLY,
  FAILS,
  GONE,
  LATER,
  LEAVES,
  LEAVES_QUIETLY,
  NO_MORE,
  NOT_ASKED,
  NOT_ASKED_GONE,
  READ_QUIETLY,
  REJECTS,
  SAYS,
  SAYS_NOTHING,
  STATUS,
  STATUS_TITLE,
  TELLS,
  UNHEARD,
  UNREAD,
} from './llm-contract-titles.ts';

const REFUSALS: readonly Fault[] = [
  [
    'any Error for a refusal',
    refusal(({ message }) => new Error(message)),
    [...REJECTS, ...STATUS, ...SAYS],
  ],
  ['done for a refusal', refused(() => [done()]), [...REJECTS, ...STATUS, ...SAYS]],
  [
    'a failed event for a refusal',
    refused(({ message }) => [{ kind: 'failed', kindOf: 'generate', message }]),
    [...REJECTS, ...STATUS, ...SAYS],
  ],
  ['no status', refusal((error) => changed(error, { httpStatus: null })), STATUS],
  [
    'a refusal that may always be tried again',
    refusal((error) => changed(error, { retryable: true })),
    [`refused: ${STATUS_TITLE}`],
  ],
  [
    'a refusal that may never be tried again',
    refusal((error) => changed(error, { retryable: false })),
    [`busy: ${STATUS_TITLE}`],
  ],
  ['a refusal as a timeout', refusal((error) => changed(error, { isTimeout: true })), STATUS],
  ['a refusal without words', refusal((error) => changed(error, {}, '')), SAYS],
  [
    'a refusal with the text of an object',
    refusal((error) => changed(error, {}, `${error.message} [object Object]`)),
    SAYS,
  ],
  ['a refusal in words of its own', refusal((error) => changed(error, {}, 'it failed')), SAYS],
  [
    'words before a refusal',
    refused(function* (error) {
      yield { kind: 'text', text: '' };
      throw error;
    }),
    REJECTS,
  ],
  [
    'giving up after a failure',
    (llm) => {
      let failed = false;
      return asking(async (ask) => {
        if (failed) throw new Error('it failed before');
        try {
          return await ask();
        } catch (error) {
          failed = true;
          throw error;
        }
      })(llm);
    },
    [LATER],
  ],
];

const halfCall: Content = {
  type: 'tool_call',
  content: { id: 'a', name: 'write_file', args: { path: 'a', text: 'half of' } },
};

const TEARS: readonly Fault[] = [
  ['half a call', tear(() => [done(halfCall)]), [FAILS]],
  ['done without the call', tear(() => [done()]), [FAILS]],
  ['a tear that nobody is told of', tear(() => []), [FAILS]],
  [
    'done, and then the tear',
    tear(function* (error) {
      yield done();
      throw error;
    }),
    [FAILS],
  ],
  [
    'the tear as an event, and then as a throw',
    tear(function* (error) {
      yield { kind: 'interrupted' };
      throw error;
    }),
    [FAILS],
  ],
  [
    'words for half a call',
    tear(() => [{ kind: 'text', text: '{"path"' }, { kind: 'interrupted' }]),
    [NO_MORE],
  ],
  ['any Error for a tear', tear(() => throwing(new Error('cut'))), [TELLS]],
  ['a tear without words', tear(() => throwing(new LlmError(' '))), [TELLS]],
  [
    'a tear with the text of an object',
    tear(() => [{ kind: 'failed', kindOf: 'stream', message: '[object Object]' }]),
    [TELLS],
  ],
];

const ENDINGS: readonly Fault[] = [
  [
    'a listener that stays',
    hearing((llm, signal) => {
      llm.listen(signal, () => undefined);
    }),
    [READ_QUIETLY, ...FAIL_QUIETLY, ...GONE, NOT_ASKED_GONE, LEAVES_QUIETLY],
  ],
  [
    'a listener that stays until there is an abort',
    hearing((llm, signal) => {
      llm.listen(signal, () => undefined, true);
    }),
    [READ_QUIETLY, ...FAIL_QUIETLY, NOT_ASKED_GONE, LEAVES_QUIETLY],
  ],
  ['a deaf ear', deaf, [NOT_ASKED, SAYS_NOTHING], [UNHEARD, UNREAD, ...GONE]],
  [
    'an abort that came before and is missed',
    (llm) => ({
      generate: (request, options) =>
        llm.generate(request, options?.signal?.aborted === true ? {} : options),
    }),
    [NOT_ASKED, SAYS_NOTHING],
  ],
  [
    'words for a reader who had left',
    asking((ask, _, signal) =>
      signal?.aborted === true
        ? Promise.resolve(streamOf({ kind: 'text', text: 'Bye.' }, { kind: 'interrupted' }))
        : ask(),
    ),
    [SAYS_NOTHING],
  ],
  ['done for an abort', abort(() => [done()]), [UNHEARD, UNREAD, NOT_ASKED]],
  ['a reply in one piece', buffered, [], [UNREAD, ...GONE.slice(1), LEAVES, LEAVES_QUIETLY]],
  [
    'a reader who cannot leave',
    reading(() => ({ return: () => new Promise(() => undefined) })),
    [],
    [LEAVES, LEAVES_QUIETLY],
  ],
  [
    'a model that does not hear that its reader left',
    reading(() => ({ return: () => ENDED })),
    [LEAVES, LEAVES_QUIETLY],
  ],
  ['a model that does not hear of the abort', unheardAbort, [...GONE, NOT_ASKED_GONE]],
];

/** What an Llm is free to do. */
const FREE: readonly [what: string, bend: Bend][] = [
  ['all as it was arranged', (llm) => llm],
  [
    'usage and thoughts after done',
    events('done', (event) => [event, { kind: 'thinking', text: '' }]),
  ],
  [
    'thoughts that it keeps to itself',
    events('thinking', (event) => ('meta' in event ? [event] : [])),
  ],
  [
    'a signature that comes after what it signs',
    events('thinking', ({ kind, text, ...signed }) => [
      { kind, text },
      ...('meta' in signed ? [{ kind, text: '', ...signed }] : []),
    ]),
  ],
  [
    'words letter by letter',
    events('text', ({ kind, text }) => text.split('').map((part) => ({ kind, text: part }))),
  ],
  [
    'no reason but that it was cut',
    events('done', ({ finish, ...event }) => [finish === 'length' ? { ...event, finish } : event]),
  ],
  ['a refusal at the first read', refused((error) => throwing(error))],
  ['a tear as a failed event', tear(() => [{ kind: 'failed', kindOf: 'stream', message: 'cut' }])],
  ['a tear as an interruption', tear(() => [{ kind: 'interrupted' }])],
  ['an abort as an interruption', abort(() => [{ kind: 'interrupted' }])],
  ['an abort as an LlmError', abort(() => throwing(new LlmError('aborted')))],
  ['an abort as an end', abort(() => [])],
];

describe('llmContract', () => {
  test.each([...REFUSALS, ...TEARS, ...ENDINGS])(
    'is broken by %s',
    async (_, bend, fail, hang = []) => {
      expect(await faultsOf(bend)).toEqual({ fail: fail.toSorted(), hang: hang.toSorted() });
    },
  );

  test.each(FREE)('is kept by %s', async (_, bend) => {
    expect(await faultsOf(bend)).toEqual({ fail: [], hang: [] });
  });
});
