import { messageTexts, toolResultMessage, userMessage, type Message } from '@celestea/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { callsOf, doneOf, eventsOf, requestOf, talk } from './support/conversation.ts';

const many = (count: number, row: unknown): unknown[] => Array.from({ length: count }, () => row);

const RESULTS: Readonly<Record<string, string>> = {
  nothing: '',
  null: 'null',
  'an array': '[1,2,3]',
  'an empty object': '{}',
  'cut JSON': '{"path":"README.md","text":"abc',
  'no JSON': '<html>502</html>',
  'a long error': `Error: ${'x'.repeat(100_000)}`,
  'wrong types': '{"text":5,"matches":5,"entries":5,"bytes":"5"}',
  'rows of wrong types': '{"matches":[1,null,"a",[],{"path":1}],"entries":[1,null,[],{"name":{}}]}',
  'rows without fields': '{"matches":[{"path":"a"}],"entries":[{}]}',
  'texts that are none': '{"matches":[{"path":"a","text":{"toString":1}}],"entries":[]}',
  'odd numbers': '{"text":"x","first_line":-5,"total_lines":1e400,"matches":[],"total_entries":-1}',
  depth: `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
  'one long line': JSON.stringify({ text: 'cancel '.repeat(20_000) }),
  'many lines': JSON.stringify({ text: '# cancel\n'.repeat(20_000) }),
  'many rows': JSON.stringify({ matches: many(9000, { path: 'a', line: 1, text: 'cancel' }) }),
  'many names': JSON.stringify({ entries: many(9000, { name: 'README.md', kind: 'file' }) }),
  escapes: JSON.stringify({ text: '\u001b[2J\u0007cancel\u0000', entries: [{ name: '\u001b]0;x' }] }),
  'half characters': JSON.stringify({ text: `cancel ${'\ud83d'.repeat(400)}` }),
};

test.each(Object.entries(RESULTS))('a result of %s ends in a bounded, clean answer', async (_, text) => {
  const question = 'list src and what does README.md say about cancelling? Where is cancelTurn?';
  const { calls, answer } = await talk(question, () => text);
  expect(calls).toHaveLength(3);
  expect(answer).toContain("celestea's offline model");
  expect(answer.length).toBeLessThan(30_000);
  expect(answer.replaceAll('\n', '')).not.toMatch(/\p{Cc}|\p{Cs}/u);
});

const QUESTIONS = [
  'a'.repeat(100_000),
  'find '.repeat(20_000),
  '(((((((([[[[[[[[{{{{{{{{',
  '`"\'“'.repeat(5000),
  'a.'.repeat(5000),
  '/'.repeat(5000),
  '_'.repeat(5000),
  ' '.repeat(5000),
  `write ${'a to '.repeat(400)}`,
  `write "${'" to '.repeat(400)}`,
  ', , , and and and ??? !!!',
  'which files mention?',
  '\u0000\u001b[31m read \u0007README.md',
  'where is constructor and __proto__ and toString()',
  '\ud83d',
  `[from ${'x'.repeat(5000)}`,
  `read ${many(50, 'a.md b.md').join(' ')} c.md d.md e.md f.md g.md h.md`,
];

test('what is left of a long question is told', async () => {
  const { answer } = await talk('read a.md b.md c.md d.md e.md f.md g.md', () => '{}');
  expect(answer).toContain('The question is long, and I left the rest of it aside.');
});

test.each(QUESTIONS)('a hostile question is answered: %.30j', async (question) => {
  const { calls, answer } = await talk(question, () => '{}');
  expect(calls.length).toBeLessThanOrEqual(6);
  expect(answer.length).toBeLessThan(10_000);
  expect(answer.split('\n\n').length).toBeGreaterThan(1);
});

test('any text gets the same reply twice, with the offered tools alone', async () => {
  const word = fc.constantFrom('list', 'write', '"x"', 'to', 'a.md', 'find', 'AbortSignal', 'and');
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.array(word).map((all) => all.join(' ')));
  const tools = fc.subarray(['list_dir', 'read_file', 'search_text', 'write_file', 'other']);
  await fc.assert(
    fc.asyncProperty(text, tools, async (question, offered) => {
      const calls = await callsOf(question, offered);
      expect(calls).toEqual(await callsOf(question, offered));
      for (const call of calls) expect(offered).toContain(call.split(' ')[0]);
    }),
  );
});

test('messages that fit no conversation are answered', async () => {
  const odd: Message[] = [
    toolResultMessage('nobody', '{"text":"x"}'),
    { role: 'assistant', content: [], tool_call_id: null },
  ];
  const message = doneOf(await eventsOf(requestOf([...odd, userMessage('why?'), ...odd])));
  expect(messageTexts(message).join('')).toContain('I cannot answer “why?”');
});
