import {
  assistantText,
  assistantToolCall,
  messageToolCalls,
  toolResultMessage,
  userMessage,
  type Message,
} from '@celestea/core';
import { describe, expect, it } from 'vitest';
import {
  converse,
  doneOf,
  eventsOf,
  folderOf,
  requestOf,
  spec,
  wanted,
} from './support/conversation.ts';

const README = [
  '# demo',
  '',
  'One turn of an agent.',
  '',
  '## Cancelling',
  '',
  'Pass an `AbortSignal`; a cancelled turn ends.',
  '',
  'Tools are left behind.',
  '',
  '## Limits',
  '',
  'At most 16 steps.',
].join('\n');

const SOURCE = [
  "import { stop } from './stop.ts';",
  '',
  '/** Ends a turn. */',
  'export function cancelTurn(signal: AbortSignal): void {',
  '  stop(signal);',
  '}',
].join('\n');

const FILES = { 'README.md': README, 'src/cancel.ts': SOURCE, 'src/stop.ts': 'export {};' };

const ask = (question: string, files: Record<string, string> = FILES, pageLines = 400) =>
  converse([userMessage(question)], folderOf(files, pageLines));

describe('several steps', () => {
  it('searches and reads at once, then answers both parts in order', async () => {
    const question =
      'which files mention AbortSignal, and what does README.md say about cancelling?';
    const { steps, answer } = await ask(question);
    expect(steps).toEqual([
      [
        ['search_text', { query: 'AbortSignal' }],
        ['read_file', { path: 'README.md' }],
      ],
    ]);
    expect(answer).toContain('`AbortSignal`: 2 matches in 2 files.');
    expect(answer).toContain('- `src/cancel.ts:4` `export function cancelTurn');
    expect(answer).toContain('`README.md`, lines 5–9:');
    expect(answer).toContain('> Tools are left behind.');
    expect(answer).not.toContain('At most 16 steps');
    expect(answer.indexOf('**which files')).toBeLessThan(answer.indexOf('**what does README'));
  });

  it('reads around the most telling hits of a how question', async () => {
    const { steps, answer } = await ask('how is cancelTurn implemented?');
    expect(steps).toEqual([
      [['search_text', { query: 'cancelTurn' }]],
      [['read_file', { path: 'src/cancel.ts', offset: 1, limit: 40 }]],
    ]);
    expect(answer).toContain('export function cancelTurn(signal: AbortSignal): void {\n  stop');
  });

  it('does not read when only the place is asked', async () => {
    expect((await ask('where is cancelTurn?')).steps).toHaveLength(1);
  });

  it('takes a `and why?` as part of the search before it', async () => {
    expect((await ask('where is cancelTurn used, and why?')).steps).toHaveLength(2);
  });

  it.each(['and explain why it exists', 'and how does it work'])(
    'takes a clause about `it` as part of the search before it: %s',
    async (more) => {
      const { steps } = await ask(`find all usages of cancelTurn ${more}`);
      expect(steps.map((calls) => calls.map(([name]) => name))).toEqual([
        ['search_text'],
        ['read_file'],
      ]);
    },
  );

  it('takes a clause about `it` as part of the reading before it', async () => {
    const { steps, answer } = await ask('read README.md and tell me what it says about limits');
    expect(steps).toEqual([[['read_file', { path: 'README.md' }]]]);
    expect(answer).toContain('At most 16 steps.');
    expect(answer).not.toContain('One turn of an agent.');
  });

  it('tries further wordings of a search that found nothing', async () => {
    const { steps, answer } = await ask('find cancelTURN');
    expect(steps).toEqual([
      [['search_text', { query: 'cancelTURN' }]],
      [['search_text', { query: 'cancelTURN', ignore_case: true }]],
    ]);
    expect(answer).toContain('1 match in 1 file');
  });

  it('says that nothing was found', async () => {
    const { answer } = await ask('which files mention Zebra_crossing in src?');
    expect(answer).toContain('Nothing was found for `Zebra_crossing` in `src`.');
  });

  it('lists, then searches the rarest words and reads the README', async () => {
    const { steps, answer } = await ask('what are the limits here?');
    expect(steps).toEqual([
      [['list_dir', {}]],
      [
        ['search_text', { query: 'limit', ignore_case: true }],
        ['read_file', { path: 'README.md' }],
      ],
    ]);
    expect(answer).toContain('At most 16 steps.');
  });

  it('looks closer when the README is silent', async () => {
    const { steps, answer } = await ask('how do we stop?', { ...FILES, 'README.md': '# demo' });
    expect(steps).toHaveLength(3);
    expect(answer).toContain('stop(signal);');
  });

  it('reads the README for a question without topic', async () => {
    const { steps, answer } = await ask('what is this project about?');
    expect(steps).toEqual([[['list_dir', {}]], [['read_file', { path: 'README.md' }]]]);
    expect(answer).toContain('`README.md`, lines 1–13 of 13:');
  });

  it('shows what there is when it found nothing to go by', async () => {
    const { answer } = await ask('what is the capital of France?', { 'a.txt': 'b' });
    expect(answer).toContain('I found nothing about `capital`, `France`.');
    expect(answer).toContain('The folder has 1 entry: `a.txt`');
  });
});

describe('how many lines', () => {
  it.each([
    ['how many lines has README.md?'],
    ['how long is README.md?'],
    ['read README.md and tell me the number of lines it has'],
  ])('%s', async (question) => {
    const { steps, answer } = await ask(question, FILES, 5);
    expect(steps).toEqual([[['read_file', { path: 'README.md' }]]]);
    expect(answer).toMatch(/^`README\.md` has 13 lines\.\n\nThis is/);
  });

  it('goes with what a file says', async () => {
    const question = 'how many lines has README.md, and what does it say about limits?';
    const { answer } = await ask(question);
    expect(answer).toContain('`README.md` has 13 lines.');
    expect(answer).toContain('At most 16 steps.');
  });

  it.each<[string, object, string]>([
    ['one', { text: 'x\n', total_lines: 1 }, '`a.ts` has 1 line.'],
    ['none', { text: '', total_lines: 0 }, '`a.ts` is empty.'],
    ['nobody knows', { text: 'x\n', total_lines: null },
      'How many lines `a.ts` has, the tool did not say.'],
  ])('%s', async (_, result, said) => {
    const { answer } = await converse([userMessage('how many lines has a.ts?')], () => result);
    expect(answer).toContain(said);
  });
});

describe('what the rules cannot answer', () => {
  const CANNOT = 'I cannot answer that: it names no file, no folder and no word';

  it.each(['what is 2+2?', '2 + 2', 'what is x?', 'what is 5 plus 7?'])(
    'is answered by saying so, without a look at the files: %s',
    async (question) => {
      const { steps, answer } = await ask(question);
      expect(steps).toEqual([]);
      expect(answer).toContain(CANNOT);
      expect(answer).not.toContain('README');
    },
  );

  it('stands beside what they can', async () => {
    const { steps, answer } = await ask('what is 2+2, 3+3 and what is in src/stop.ts?');
    expect(steps).toEqual([[['read_file', { path: 'src/stop.ts' }]]]);
    expect(answer.split(CANNOT)).toHaveLength(2);
    expect(answer).toContain('export {};');
  });

  it('is told from what they only guess at', async () => {
    const { answer } = await ask('what are the limits here?');
    expect(answer).toContain('No rule of mine fits this question; I looked for `limits`');
  });
});

describe('long files', () => {
  const long = (lines: number, last: string): string =>
    [...Array.from({ length: lines }, (_, i) => `line ${String(i + 1)}`), '', last].join('\n');

  it('reads on until the topic comes up', async () => {
    const { steps, answer } = await ask(
      'what does NOTES.md say about cancelled turns?',
      { 'NOTES.md': long(25, 'Cancellation ends a turn.') },
      10,
    );
    expect(steps.flat()).toEqual([
      ['read_file', { path: 'NOTES.md' }],
      ['read_file', { path: 'NOTES.md', offset: 11 }],
      ['read_file', { path: 'NOTES.md', offset: 21 }],
    ]);
    expect(answer).toContain('`NOTES.md`, line 27:\n\n> Cancellation ends a turn.');
  });

  it('gives up after four steps and says how far it came', async () => {
    const files = { 'NOTES.md': long(500, 'Cancellation ends a turn.') };
    const { steps, answer } = await ask('what does NOTES.md say about cancelling?', files, 10);
    expect(steps).toHaveLength(4);
    expect(answer).toContain('does not mention `cancelling` as far as I read it (line 40)');
  });

  it('says so when it ran out of steps', async () => {
    const question = 'how does Zebra work and what does NOTES.md say about cancelling?';
    const messages: Message[] = [userMessage(question)];
    for (let step = 0; step < 4; step += 1) {
      messages.push(assistantToolCall({ id: `x${String(step)}`, name: 'weather', args: {} }));
      messages.push(toolResultMessage(`x${String(step)}`, '{}'));
    }
    const message = doneOf(await eventsOf(requestOf(messages)));
    expect(messageToolCalls(message)).toEqual([]);
    expect(JSON.stringify(message)).toContain('I stopped after 4 steps with tools');
    expect(JSON.stringify(message)).toContain('I did not come to read `NOTES.md`.');
  });

  it('does not read on when the tool makes no progress', async () => {
    const stuck = { path: 'a.md', text: 'x', first_line: 1, last_line: 1, truncated: true };
    const { steps } = await converse([userMessage('what does a.md say about dogs?')], () => stuck);
    expect(steps.length).toBeLessThanOrEqual(4);
  });
});

describe('files that are not there', () => {
  it('finds another spelling in the folder', async () => {
    const { steps, answer } = await ask('read Readme.txt', { 'README.md': README });
    expect(steps).toEqual([
      [['read_file', { path: 'Readme.txt' }]],
      [['list_dir', {}]],
      [['read_file', { path: 'README.md' }]],
    ]);
    expect(answer).toContain('There is no `Readme.txt`; I took `README.md` in its place.');
  });

  it('looks in the usual folders', async () => {
    const { steps } = await ask('read cancel.ts');
    expect(steps.at(-1)).toEqual([['read_file', { path: 'src/cancel.ts' }]]);
  });

  it('quotes the error when there is none', async () => {
    const { answer } = await ask('read NOPE.md');
    expect(answer).toContain('Reading `NOPE.md` failed: path: "NOPE.md" does not exist');
  });

  it('quotes an error of any tool, and looks no further for a denied one', async () => {
    const deny = (): never => {
      throw new Error('denied by the user');
    };
    const question = 'list src, read README.md and find AbortSignal';
    const { steps, answer } = await converse([userMessage(question)], deny);
    expect(steps).toHaveLength(1);
    expect(answer).toContain('Listing `src` failed: denied by the user');
    expect(answer).toContain('Reading `README.md` failed: denied by the user');
    expect(answer).toContain('Searching for `AbortSignal` failed: denied by the user');
  });

  it('does not pass a failed search off as one that found nothing', async () => {
    const files = folderOf({ 'a.txt': 'b' });
    const { answer } = await converse([userMessage('how do zebras sleep?')], (name, args) => {
      if (name === 'search_text') throw new Error('the disk is gone');
      return files(name, args);
    });
    expect(answer).toContain('failed: the disk is gone');
  });
});

describe('the conversation', () => {
  it('gives every call an id of its own, over all turns', async () => {
    const first = await ask('read README.md and find AbortSignal');
    const next = [...first.messages, userMessage('list src and read src/stop.ts')];
    const second = await converse(next, folderOf(FILES));
    const ids = second.messages.flatMap(messageToolCalls).map((call) => call.id);
    expect(ids).toEqual(['offline-0', 'offline-1', 'offline-2', 'offline-3']);
  });

  it('counts on from ids that outlived a trimmed history', async () => {
    const messages = [
      assistantToolCall({ id: 'offline-41', name: 'list_dir', args: {} }),
      toolResultMessage('offline-41', '{}'),
      assistantText('done'),
      userMessage('read a.ts'),
    ];
    const [call] = messageToolCalls(doneOf(await eventsOf(requestOf(messages))));
    expect(call?.id).toBe('offline-42');
  });

  it('reads a file again in a new turn', async () => {
    const first = await ask('read README.md');
    const second = await converse(
      [...first.messages, userMessage('read README.md')],
      folderOf(FILES),
    );
    expect(second.steps).toEqual([[['read_file', { path: 'README.md' }]]]);
  });

  it('lets a steering message decide, and uses what is already known', async () => {
    const messages = [
      userMessage('read README.md'),
      assistantToolCall({ id: 'offline-0', name: 'read_file', args: { path: 'README.md' } }),
      toolResultMessage('offline-0', JSON.stringify({ path: 'README.md', text: README })),
      userMessage('rather tell me what README.md says about limits, and list src'),
    ];
    const message = doneOf(await eventsOf(requestOf(messages)));
    expect(wanted(messageToolCalls(message))).toEqual([['list_dir', { path: 'src' }]]);
    const { answer } = await converse(messages, folderOf(FILES));
    expect(answer).toContain('At most 16 steps.');
  });

  it('keeps results that follow a preamble of another model', async () => {
    const messages = [
      userMessage('read README.md'),
      assistantText('Let me look.'),
      assistantToolCall({ id: 'a', name: 'read_file', args: { path: './README.md' } }),
      toolResultMessage('a', JSON.stringify({ path: 'README.md', text: README })),
    ];
    expect((await converse(messages, folderOf({}))).steps).toEqual([]);
  });
});

describe('without the right tools', () => {
  const answerTo = async (question: string, tools = [spec('weather')]): Promise<string> =>
    (await converse([userMessage(question)], folderOf({}), tools)).answer;

  it('says which tool is missing', async () => {
    const answer = await answerTo('read README.md, find AbortSignal and list src');
    expect(answer).toContain('I cannot read `README.md`: the tool `read_file` is not offered');
    expect(answer).toContain('I cannot search for `AbortSignal`: the tool `search_text` is not');
    expect(answer).toContain('I cannot list `src`: the tool `list_dir` is not offered');
  });

  it('says that it knows nothing by itself', async () => {
    expect(await answerTo('what is love?', [])).toContain('No tools are offered to me');
    expect(await answerTo('what is love?')).toContain('None of the tools I look with is offered');
  });

  it('greets', async () => {
    expect(await answerTo('hello', [])).toMatch(/^Hello!/);
  });

  it('lists the offered tools with their descriptions', async () => {
    expect(await answerTo('what can you do?')).toContain('- `weather`: What weather does.');
    expect(await answerTo('what tools do you have?')).toContain('`weather`');
    expect(await answerTo('who are you?', [])).toContain('no tools are offered to me');
  });

  it('answers when nobody has asked anything', async () => {
    expect((await converse([], folderOf({}))).answer).toContain('offline model');
  });
});
