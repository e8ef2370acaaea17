import {
  assistantToolCall,
  messageToolCalls,
  toolResultMessage,
  userMessage,
} from '@celestea/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  converse,
  doneOf,
  eventsOf,
  firstCalls,
  folderOf,
  requestOf,
  spec,
  wanted,
  type Answering,
} from './support/conversation.ts';

const TOOLS = ['list_dir', 'read_file', 'search_text', 'write_file'].map(spec);
const READ_ONLY = TOOLS.slice(0, 3);
const HELLO = 'write "hello" to notes.md';

const calls = (question: string): Promise<[string, unknown][]> => firstCalls(question, TOOLS);
const write = (content: string, path = 'notes.md'): [string, unknown] => [
  'write_file',
  { path, content },
];

const writing = (result: unknown): Answering => () => result;
const refusing = (error: string): Answering => () => {
  throw new Error(error);
};
const ask = (question: string, answering: Answering, tools = TOOLS) =>
  converse([userMessage(question)], answering, tools);

describe('a request to write', () => {
  const shapes: [string, [string, unknown]][] = [
    [HELLO, write('hello')],
    ["write 'hello' to notes.md", write('hello')],
    ['write `hello` to notes.md', write('hello')],
    ['write “hello” to notes.md', write('hello')],
    ["write 'don't panic' to notes.md", write("don't panic")],
    ['write hello there to notes.md', write('hello there')],
    ["write don't panic to notes.md", write("don't panic")],
    ['write hello to ada to notes.md', write('hello to ada')],
    ['WRITE Hello TO Notes.md', write('Hello', 'Notes.md')],
    ['Please write "hello" to notes.md, please.', write('hello')],
    ['[from ada] write "hello" to notes.md', write('hello')],
    ['write "hello" into the file notes.md', write('hello')],
    ['write "hello" to a new file called notes.md', write('hello')],
    ['write the text "hello" to "my notes.md"', write('hello', 'my notes.md')],
    ['write "one\ntwo\n" to notes.md', write('one\ntwo\n')],
    ['write "" to notes.md', write('')],
    ['write "who wrote a.ts?" to notes.md', write('who wrote a.ts?')],
    ['write "a summary" to notes.md', write('a summary')],
    ['save "x" as a/b.txt', write('x', 'a/b.txt')],
    ['save tea in notes.md', write('tea')],
    ['save "x" to .env', write('x', '.env')],
    ['put "tea" into notes.md', write('tea')],
    ['put green tea into notes.md!', write('green tea')],
    ['put 你好 in notes.md', write('你好')],
    ['write "x" to bin/tool', write('x', 'bin/tool')],
    ['write hello to docs/NOTES', write('hello', 'docs/NOTES')],
    ['write "let x;" to src/a.ts', write('let x;', 'src/a.ts')],
    ['create notes.md with "hello"', write('hello')],
    ['create a file notes.md containing hello', write('hello')],
    ['create the file named notes.md with the text hello there', write('hello there')],
    ['make a new file notes.md that says "hello"', write('hello')],
    ['write a file notes.md with "hello".', write('hello')],
    ['write "x" to /etc/motd.txt', write('x', '/etc/motd.txt')],
    ['write "x" to ../up.md', write('x', '../up.md')],
  ];
  it.each(shapes)('is one call with the text and the path: %s', async (question, call) => {
    expect(await calls(question)).toEqual([call]);
  });

  it('says what was made, and that it is no language model', async () => {
    const result = { path: 'notes.md', bytes: 5, created: true };
    const { steps, answer } = await ask(HELLO, writing(result));
    expect(steps).toEqual([[write('hello')]]);
    expect(answer).toMatch(/^I made `notes\.md`: 5 bytes\.\n\nThis is celestea's offline model/);
  });

  it.each<[object, string]>([
    [{ path: 'notes.md', bytes: 1, created: false }, 'I changed `notes.md`: 1 byte.'],
    [{ path: 'notes.md', bytes: 0, created: false }, 'I changed `notes.md`: 0 bytes.'],
    [{ odd: 'shape' }, 'Writing `notes.md` brought a result of a form I do not know'],
    [{ path: 'notes.md', bytes: -1, created: true }, 'of a form I do not know'],
  ])('answers from the result %j', async (result, said) => {
    expect((await ask(HELLO, writing(result))).answer).toContain(said);
  });

  it.each([
    'denied: nobody is here to approve it',
    'denied: rather not, because it is there',
    'path: "../up.md" is outside the root',
  ])('tells a refusal in the words of the tool, and does not try again: %s', async (error) => {
    const { steps, answer } = await ask(HELLO, refusing(error));
    expect(steps).toHaveLength(1);
    expect(answer).toContain(`Writing \`notes.md\` failed: ${error}\n`);
  });

  it('is not made again when the call that ran had other arguments', async () => {
    const messages = [
      userMessage(HELLO),
      assistantToolCall({ id: 'a', name: 'write_file', args: { path: 'notes.md', content: 'x' } }),
      toolResultMessage('a', '{"path":"notes.md","bytes":1,"created":true}'),
    ];
    expect((await converse(messages, refusing('twice'), TOOLS)).steps).toEqual([]);
  });

  it.each([HELLO, 'write "bye" to notes.md'])('is followed by the next one: %s', async (next) => {
    const result = writing({ path: 'notes.md', bytes: 5, created: true });
    const { messages } = await ask(HELLO, result);
    const again = await converse([...messages, userMessage(next)], result, TOOLS);
    expect(again.steps).toEqual([await calls(next)]);
    expect(again.answer).toContain('I made `notes.md`');
  });

  it('is made when the one before it was cancelled', async () => {
    const messages = [
      userMessage(HELLO),
      assistantToolCall({ id: 'offline-0', name: 'write_file', args: write('hello')[1] }),
      toolResultMessage('offline-0', 'Error: this call was cancelled'),
      userMessage(HELLO),
    ];
    const message = doneOf(await eventsOf(requestOf(messages, TOOLS)));
    expect(messageToolCalls(message).map(({ id }) => id)).toEqual(['offline-1']);
    expect(wanted(messageToolCalls(message))).toEqual([write('hello')]);
  });

  it('without a tool to write with is answered by saying so', async () => {
    const { steps, answer } = await ask(HELLO, folderOf({}), READ_ONLY);
    expect(steps).toEqual([]);
    expect(answer).toContain('I have no tool to write with. I cannot write `notes.md`: the tool');
    expect(answer).toContain('`write_file` is not offered to me.');
  });
});

describe('a text that is only described', () => {
  it.each([
    'write a summary of README.md to notes.md',
    'write it to notes.md',
    'write tests to foo.test.ts',
    'write tests for the loop to test/loop.test.ts',
    'write src/a.ts to src/b.ts',
    'write access to foo.ts',
    'write hello to a.md and bye to b.md',
    'write "hello" to a.md and "bye" to b.md',
    'write hello then save it to notes.md',
    "write 'a' and 'b' to notes.md",
    'save the file as b.txt',
    'save changes to notes.md',
    'put the output into out.txt',
    'put README into notes.md',
    'put breakpoints in src/a.ts',
    'write hello world to hello.py',
    'create .npmrc containing hello',
    'create src/app.tsx with react',
    'create notes.md containing hello?',
    'create notes.md containing hello and tell me why',
    'create notes.md containing /etc/passwd',
    'create src/app.tsx with a login form',
    'create notes.md containing the text of README.md',
    `write ${'tea '.repeat(13)}to notes.md`,
  ])('is asked for in quotes, and nothing is called: %s', async (question) => {
    const { steps, answer } = await ask(question, refusing('called'));
    expect(steps).toEqual([]);
    expect(answer).toMatch(/^I write only a text that is given word for word, to one file\./);
  });
});

describe('what is no request to write', () => {
  const OTHERS = [
    'who wrote notes.md?',
    'what does write mean in x.ts',
    'how do I write a test to foo.ts?',
    'how do I write "hello" to notes.md?',
    'can you write "hello" to notes.md?',
    'write "hello" to notes.md?',
    'do not write "hello" to notes.md',
    'should I put "tea" into notes.md',
    'what does write_file do?',
    'write_file "hello" to notes.md',
    'where is write "hello" to notes.md tested?',
    'find "write" in src/a.ts',
    'write "hello" to notes.md and read it',
    'write "hello" to notes.md. Then read b.md',
    'read a.md, then write "hello" to notes.md',
    'write "hello"',
    'write to notes.md',
    'write notes.md',
    'create notes.md',
    'write "hello" to notes',
    'write "hello" to me',
    'write "hello" to the folder docs/',
    'write "hello" to ..',
    'write hello world in Node.js',
    'write "hello" to Node.js',
    'write "hello" to ada@example.com',
    'write "hello" to https://example.com/a.md',
    'write "hello" to example.com',
    'write 1.0 to 2.0',
    'put tea in the U.S.',
    'put hello in and/or',
    'save your work in time',
    'make sure a.ts contains "x"',
    'create a component in src/app.tsx with "x"',
    `write "${'x'.repeat(2000)}" to notes.md`,
    `${HELLO.padEnd(2000)}and read b.md`,
    `write "hello" to ${'a/'.repeat(200)}b.md`,
  ];
  it.each(OTHERS.map((question) => [question.slice(0, 80), question]))(
    'never writes: %s',
    async (_, question) => {
      const { steps } = await ask(question, folderOf({ 'notes.md': 'tea' }));
      expect(steps.flat().map(([name]) => name)).not.toContain('write_file');
    },
  );

  const path = fc.constantFrom('notes.md', 'src/a.ts', '`x.ts`', '"my notes.md"', '/etc/x', 'docs');
  const thing = fc.oneof(path, fc.constantFrom('write', 'write_file', '"hello"', 'hello', 'tests'));
  const opening = fc.constantFrom(
    'who', 'what does', 'how do I', 'why does', 'where is', 'which files', 'can I', 'does', 'read',
    'find', 'list', 'explain', 'show me how to', 'is it true that you', 'I did not', 'never',
    'if I',
  );
  const act = fc.constantFrom('write', 'wrote', 'save', 'put', 'create', 'mention', 'make', 'use');
  const joint = fc.constantFrom('to', 'into', 'in', 'as', 'with', 'containing', 'and', 'of');
  const request = fc
    .tuple(act, thing, joint, path)
    .map((words) => words.join(' '));

  it('holds for every question that opens otherwise', async () => {
    await fc.assert(
      fc.asyncProperty(opening, request, fc.constantFrom('', '?', '.'), async (open, rest, end) => {
        const names = (await calls(`${open} ${rest}${end}`)).map(([name]) => name);
        expect(names).not.toContain('write_file');
      }),
    );
  });

  it('holds for every request that goes on, or is asked', async () => {
    const more = fc.constantFrom('?', ' and why?', ', then list src', ' or not', '\nread b.md');
    await fc.assert(
      fc.asyncProperty(request, more, async (asked, rest) => {
        const names = (await calls(`${asked}${rest}`)).map(([name]) => name);
        expect(names).not.toContain('write_file');
      }),
    );
  });

  it('holds for any text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 300 }), async (text) => {
        expect((await calls(text)).map(([name]) => name)).not.toContain('write_file');
      }),
    );
  });
});

it('writes any text in quotes as it stands', async () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 200 }).map((raw) => raw.replace(/"/g, ''));
  await fc.assert(
    fc.asyncProperty(text, async (content) => {
      expect(await calls(`write "${content}" to notes.md`)).toEqual([write(content)]);
      expect(await calls(`create notes.md with "${content}"`)).toEqual([write(content)]);
    }),
  );
});

it('is quick with questions that almost fit', async () => {
  const hostile = ['write ', 'to ', 'a to ', '"" to ', "'a'", ' ', 'x.md ', 'with ', 'please '];
  for (const piece of hostile) {
    for (const head of ['write ', 'create ', 'write "', 'please ', "write '"]) {
      const text = `${head}${piece.repeat(2000)}`.slice(0, 1990);
      expect((await calls(`${text}?`)).map(([name]) => name)).not.toContain('write_file');
    }
  }
});

describe('what the model says of itself', () => {
  const HOW = 'write a text that is given word for word, as in `write "hello" to notes.md`, as far';

  it.each(['what can you do?', 'what is 2+2?'])('names writing: %s', async (question) => {
    expect((await ask(question, folderOf({}))).answer).toContain(HOW);
  });

  it('is that it cannot look when it can only write', async () => {
    const { answer } = await ask('what is love?', folderOf({}), [spec('write_file')]);
    expect(answer).toContain('None of the tools I look with is offered to me');
  });
});
