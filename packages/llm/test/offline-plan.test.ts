import { describe, expect, it } from 'vitest';
import { firstCalls, spec } from './support/conversation.ts';

const search = (query: string, more: object = {}): [string, unknown] => [
  'search_text',
  { query, ...more },
];
const anyCase = (query: string): [string, unknown] => search(query, { ignore_case: true });
const read = (path: string, more: object = {}): [string, unknown] => [
  'read_file',
  { path, ...more },
];
const list = (path?: string): [string, unknown] => ['list_dir', path === undefined ? {} : { path }];

describe('what a question asks for first', () => {
  const files: [string, [string, unknown][]][] = [
    ['what does README.md say about cancelling?', [read('README.md')]],
    ['read src/loop.ts', [read('src/loop.ts')]],
    ['What is in `package.json`?', [read('package.json')]],
    ['show me "docs/my notes.md"', [read('docs/my notes.md')]],
    ['summarise the readme', [read('README.md')]],
    ['explain (src/loop.ts).', [read('src/loop.ts')]],
    ['what happens at src/loop.ts:42?', [read('src/loop.ts', { offset: 32, limit: 40 })]],
    ['read a.ts, b.ts and ./c/d.ts', [read('a.ts'), read('b.ts'), read('./c/d.ts')]],
    ['read README.md and README.md', [read('README.md')]],
    ['where is package.json?', [read('package.json')]],
    ['how many lines has src/loop.ts?', [read('src/loop.ts')]],
    ['how are tools handled in README.md?', [read('README.md')]],
    ['what is in .gitignore?', [read('.gitignore')]],
    ['[from ada] read README.md', [read('README.md')]],
  ];
  it.each(files)('reads files: %s', async (question, calls) => {
    expect(await firstCalls(question)).toEqual(calls);
  });

  const searches: [string, [string, unknown][]][] = [
    ['which files mention AbortSignal?', [search('AbortSignal')]],
    ['which files mention README.md?', [search('README.md')]],
    ['which files contain "step limit"?', [search('step limit')]],
    ['which files use cancelling?', [anyCase('cancel')]],
    ['where is max_steps defined?', [search('max_steps')]],
    ['where is cancellation handled?', [anyCase('cancel')]],
    ['where is the step limit?', [anyCase('step limit')]],
    ['where are tool calls balanced?', [anyCase('balanc')]],
    ['search for TODO in src', [search('TODO', { path: 'src' })]],
    ['grep foo.bar() in the lib folder', [search('foo.bar', { path: 'lib' })]],
    ['find `runTurn`', [search('runTurn')]],
    ['is AbortSignal used in src/tool.ts?', [search('AbortSignal', { path: 'src/tool.ts' })]],
    ['find AbortSignal in a.ts and b.ts', [
      search('AbortSignal', { path: 'a.ts' }),
      search('AbortSignal', { path: 'b.ts' }),
    ]],
    ['which files mention AbortSignal and AbortController?', [
      search('AbortSignal'),
      search('AbortController'),
    ]],
    ['who calls deriveMessages()?', [search('deriveMessages')]],
    ['what is @celestea/core?', [search('@celestea/core')]],
    ['Explain DefaultAgentLoop', [search('DefaultAgentLoop')]],
    ["where's the 'turn end' row, please", [search('turn end')]],
  ];
  it.each(searches)('searches: %s', async (question, calls) => {
    expect(await firstCalls(question)).toEqual(calls);
  });

  const lists: [string, [string, unknown][]][] = [
    ['list the files', [list()]],
    ['what files are there?', [list()]],
    ['what is in the folder src?', [list('src')]],
    ['what is in src/testing/?', [list('src/testing')]],
    ['list the files in packages/core', [list('packages/core')]],
    ['show the src directory', [list('src')]],
    ['ls', [list()]],
    ['what is in this directory?', [list()]],
    ['list src and test', [list('src'), list('test')]],
  ];
  it.each(lists)('lists folders: %s', async (question, calls) => {
    expect(await firstCalls(question)).toEqual(calls);
  });

  const compound: [string, [string, unknown][]][] = [
    [
      'which files mention AbortSignal, and what does README.md say about cancelling?',
      [search('AbortSignal'), read('README.md')],
    ],
    [
      'list the files in src, then read src/index.ts and tell me where RunTurn is used',
      [list('src'), read('src/index.ts'), search('RunTurn')],
    ],
    ['hello, which files mention AbortSignal?', [search('AbortSignal')]],
    ['in this project, where is AbortSignal used?', [search('AbortSignal')]],
  ];
  it.each(compound)('asks for the parts in one step: %s', async (question, calls) => {
    expect(await firstCalls(question)).toEqual(calls);
  });

  it.each(['what is this about?', 'how do I cancel a turn?', '¿qué es esto?', '这个项目是什么'])(
    'lists the folder first when no rule fits: %s',
    async (question) => {
      expect(await firstCalls(question)).toEqual([list()]);
    },
  );

  it.each(['hello', 'Hi there!', 'thanks', 'what can you do?', 'who are you?', 'help', '', '  ',
    'what is 2+2?', "what's 17 * 23?", 'what is 5 plus 7?'])(
    'calls nothing for: %j',
    async (question) => {
      expect(await firstCalls(question)).toEqual([]);
    },
  );
});

describe('offered tools', () => {
  const question = 'list src, read README.md and find AbortSignal';

  it.each(['list_dir', 'read_file', 'search_text'])('calls %s alone when alone', async (name) => {
    const calls = await firstCalls(question, [spec(name), spec('weather')]);
    expect(calls.map(([called]) => called)).toEqual([name]);
  });

  it('goes on to the search words when the folder cannot be listed', async () => {
    const calls = await firstCalls('how do I cancel a turn?', [spec('search_text')]);
    expect(calls).toEqual([anyCase('cancel'), anyCase('turn')]);
  });

  it('bounds the calls of one step', async () => {
    const names = Array.from({ length: 40 }, (_, i) => `file${String(i)}.ts`);
    expect(await firstCalls(`read ${names.join(' ')}`)).toHaveLength(6);
  });
});
