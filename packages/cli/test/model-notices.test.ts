import { LlmError } from '@celestea/core';
import { describe, expect, it } from 'vitest';

import { ModelNotices, type ModelNotice } from '../src/model.ts';

const error = new LlmError('HTTP 429: Too Many Requests');
const retry: ModelNotice = {
  kind: 'retry', name: 'deepseek:deepseek-chat', attempt: 2, attempts: 3, delayMs: 2000, error,
};

/** What a turn whose first model is `a` is told. */
function told(...notices: readonly ModelNotice[]): (string | null)[] {
  const lines: (string | null)[] = [];
  const desk = new ModelNotices();
  desk.listen(({ line }) => lines.push(line), 'a');
  for (const notice of notices) desk.tell(notice);
  return lines;
}

describe('a notice as a line', () => {
  it.each<[ModelNotice, string]>([
    [retry, 'retrying deepseek:deepseek-chat in 2 s (2 of 3): HTTP 429: Too Many Requests'],
    [{ ...retry, delayMs: 400 },
      'retrying deepseek:deepseek-chat in 400 ms (2 of 3): HTTP 429: Too Many Requests'],
    [{ ...retry, delayMs: 1240 },
      'retrying deepseek:deepseek-chat in 1.2 s (2 of 3): HTTP 429: Too Many Requests'],
    [{ ...retry, delayMs: 0, attempt: 3 },
      'retrying deepseek:deepseek-chat now (3 of 3): HTTP 429: Too Many Requests'],
    [{ kind: 'fallback', failed: 'a', next: 'b\x1b', error: 'gone' },
      'a failed, asking b\\x1b: gone'],
    [{ kind: 'answer', name: 'x'.repeat(90) }, `${'x'.repeat(80)}… answers`],
  ])('%j', (notice, line) => {
    expect(told(notice)).toEqual([line]);
  });
});

it('who answers is told only when that changes', () => {
  const names = ['a', 'b', 'b', 'a'];
  const notices = names.map((name): ModelNotice => ({ kind: 'answer', name }));
  expect(told(...notices)).toEqual(['b answers', 'a answers']);
});

it('nobody is told between turns', () => {
  const notices = new ModelNotices();
  notices.tell(retry);
  const lines: (string | null)[] = [];
  notices.listen(({ line }) => lines.push(line), 'a');
  notices.listen(null, 'a');
  notices.tell(retry);
  expect(lines).toEqual([]);
});
