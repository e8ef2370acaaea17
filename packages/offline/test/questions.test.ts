import { assistantToolCall, toolResultMessage, userMessage, type ToolCall } from '@celestea/core';
import { describe, expect, it, test } from 'vitest';

import { callsOf, doneOf, eventsOf, requestOf, talk } from './support/conversation.ts';

const read = (path: string, offset?: number): string =>
  `read_file ${JSON.stringify({ path, offset })}`;
const search = (query: string, path?: string): string =>
  `search_text ${JSON.stringify({ query, ignore_case: true, path })}`;
const list = (path?: string): string => `list_dir ${JSON.stringify({ path })}`;
const write = (content: string, path = 'notes.txt'): string =>
  `write_file ${JSON.stringify({ path, content })}`;

const CALLS: readonly [question: string, ...calls: string[]][] = [
  ['which files mention AbortSignal, and what does README.md say about cancelling?',
    search('AbortSignal'), read('README.md')],
  ['What does package.json say?', read('package.json')],
  ['Count the lines of README.md', read('README.md')],
  ['how many lines has src/loop.ts?', read('src/loop.ts')],
  ['summarise the readme', read('README.md')],
  ['show me "my notes.md" and `a/b.ts`, please', read('my notes.md'), read('a/b.ts')],
  ['read a.ts, b.ts and ./c/d.ts. Then read a.ts', read('a.ts'), read('b.ts'), read('./c/d.ts')],
  ['what happens at src/loop.ts:42?', read('src/loop.ts', 42)],
  ['read a.md and tell me what it says about limits', read('a.md')],
  ['what is in LICENSE and .gitignore?', read('LICENSE'), read('.gitignore')],
  ['[from ada] read a.ts', read('a.ts')],
  ['list the files', list()],
  ['list the files in this folder', list()],
  ['What is here?', list()],
  ['what is in src?', list('src')],
  ['How many files are in the recipes folder?', list('recipes')],
  ['list packages/core/', list('packages/core')],
  ['where is max_steps defined in src?', search('max_steps', 'src')],
  ['find "step limit" in docs/a.md', search('step limit', 'docs/a.md')],
  ['which files mention README.md?', search('README.md')],
  ['grep TODO and FIXME', search('TODO'), search('FIXME')],
  ['Which files contain cancelled turns?', search('cancelled turn')],
  ['Quels fichiers mentionnent AbortSignal ?', search('AbortSignal')],
  ['what is this project about?', read('README.md')],
  ['how do I cancel a turn?', read('README.md')],
  ['hello', list()],
  ['Hello! Who are you?', list()],
  ['Hi, what does a.md say?', read('a.md')],
  ['write hello to notes.txt', write('hello')],
  ['Please write "two  spaces\nand a line" to notes.txt.', write('two  spaces\nand a line')],
  ['save "x" as `a/b.py`', write('x', 'a/b.py')],
];

test.each(CALLS)('%s', async (question, ...calls) => {
  expect(await callsOf(question)).toEqual(calls);
});

describe('without a call, and plainly', () => {
  it.each([
    'delete README.md',
    'please run the tests',
    'write a summary of a.md to notes.txt',
    'write tests to a.test.ts',
    'write hello to app.ts',
    'save it as notes.txt',
    'write "hello"',
    'write "hello" to https://example.com/a.md',
    'write "hello" to notes.txt?',
    `write "${'x'.repeat(2000)}" to notes.txt`,
  ])('it makes no change but a write in plain words: %.60s', async (question) => {
    const { calls, answer } = await talk(question, () => '{}');
    expect(calls).toEqual([]);
    expect(answer).toMatch(/^I cannot do “[^]*I write a file only when/);
  });

  it.each(['what is 2+2?', 'Was kannst du alles?', '这个项目是做什么的?', '¿Qué haces?', '', '???'])(
    'it says that it cannot answer: %s',
    async (question) => {
      const { calls, answer } = await talk(question, () => '{}');
      expect(calls).toEqual([]);
      expect(answer).toMatch(/^I cannot answer “.*simple English questions/);
    },
  );

  it('it names the tools that it has, and says which it lacks', async () => {
    const shell = { tools: ['run_command'] };
    const { answer } = await talk('what can you do?', () => '{}', shell);
    expect(answer).toContain('I am offered these tools: `run_command`.');
    expect((await talk('hello', () => '', { tools: [] })).answer).toContain('offered no tools.');
    for (const question of ['list src', 'read a.md', 'find "x"', 'write "x" to a.md']) {
      const { calls, answer: said } = await talk(question, () => '{}', shell);
      expect(calls).toEqual([]);
      expect(said).toMatch(/^I cannot do that: `\w+` is not offered to me\./);
    }
  });
});

const README = [
  '# Tea', '', 'One pot.', '', '## Cancelling', '', 'Pass an `AbortSignal`.', '',
  '## Limits', '', 'At most 16 cups.', 'A cancelled pot is cold.',
].join('\n');

function files({ name, args }: ToolCall): string {
  const { path } = args as { path?: string };
  switch (name) {
    case 'read_file': {
      if (path !== 'README.md') return `Error: path: "${String(path)}" does not exist`;
      return JSON.stringify({ path, text: README, first_line: 1, total_lines: 12 });
    }
    case 'search_text': {
      const matches = [['src/a.ts', 4], ['src/a.ts', 9], ['src/b.ts', 1]].map(
        ([at, line]) => ({ path: at, line, text: '  stop(signal: AbortSignal)' }),
      );
      return JSON.stringify({ matches, truncated: true });
    }
    case 'list_dir':
      return '{"entries":[{"name":"src","kind":"folder"},{"name":"a.md"}],"total_entries":2}';
    default:
      return '{"path":"notes.txt","bytes":5,"created":true}';
  }
}

const ANSWERS: readonly [question: string, ...parts: string[]][] = [
  ['what does README.md say about cancelling?',
    '`README.md:5–7`\n\n> ## Cancelling\n>\n> Pass an `AbortSignal`.\n\n',
    '`README.md:12`\n\n> A cancelled pot is cold.\n\n'],
  ['what does README.md say?', '`README.md` has 12 lines.', '`README.md:1–12`\n\n> # Tea\n>\n'],
  ['what does README.md say about coffee?', '`README.md` has 12 lines. What I read does not mention `coffee`.\n\n`README.md:1–12`'],
  ['how long is README.md?', '`README.md` has 12 lines.\n\nThis is'],
  ['how are pots cancelled?', 'No rule of mine fits', 'so I look for `pots`, `cancelled` in README.md'],
  ['read b.md', '`read_file` with `{"path":"b.md"}` failed: path: "b.md" does not exist'],
  ['which files mention AbortSignal?', 'I found `AbortSignal` in at least 3 lines of 2 files:\n\n' +
    '- `src/a.ts:4` `stop(signal: AbortSignal)` (and 1 more line)\n- `src/b.ts:1`'],
  ['list the files', 'The folder I work in has 2 entries: `src/`, `a.md`\n'],
  ['hello', 'I am an offline model.', 'I am offered these tools: `list_dir`, ', '`src/`, `a.md`'],
  ['write hello to notes.txt', 'I wrote 5 bytes to `notes.txt`. The file is new.'],
];

test.each(ANSWERS)('%s: an answer from the results', async (question, ...parts) => {
  const { answer } = await talk(question, files);
  for (const part of parts) expect(answer).toContain(part);
  expect(answer).toMatch(/celestea's offline model: .* cannot reason .*--base-url/);
});

test('it says which lines it read when those are not all', async () => {
  const { answer } = await talk('what does a.md say about tea?', () =>
    JSON.stringify({ text: 'one\nTea.\n', first_line: 1, last_line: 2, total_lines: 9 }),
  );
  expect(answer).toContain('`a.md` has 9 lines. I read 1–2.\n\n`a.md:2`\n\n> Tea.\n');
});

test.each(['denied: rather not', 'this tool call was cancelled'])(
  'a write that failed is told in the words of the tool, and not tried again: %s',
  async (error) => {
    const { calls, answer } = await talk('write "x" to a.md', () => `Error: ${error}`);
    expect(calls).toHaveLength(1);
    expect(answer).toContain(`failed: ${error}`);
  },
);

test('a second question is looked up anew, under ids of its own', async () => {
  const { messages } = await talk('list src', files);
  const again = await talk('list src', files, { before: messages });
  expect(again.calls).toEqual([list('src')]);
  expect(JSON.stringify(again.messages)).toMatch(/offline-0.*offline-1/);
});

test('calls that somebody else made for it end in an answer, too', async () => {
  const messages = [
    userMessage('read a.md'),
    assistantToolCall({ id: 'x', name: 'read_file', args: { path: 'b.md' } }),
    toolResultMessage('x', 'Error: no'),
  ];
  const [text] = doneOf(await eventsOf(requestOf(messages))).content;
  expect(JSON.stringify(text)).toContain('I have no result of `read_file`');
});
