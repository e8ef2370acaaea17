import { LlmError } from '@celestea/core';
import { describe, expect, it } from 'vitest';

import { noticeLine, ModelNotices, type ModelNotice } from '../src/model-notices.ts';

const error = new LlmError('HTTP 429: Too Many Requests');
const retry: ModelNotice = {
  kind: 'retry', name: 'deepseek:deepseek-chat', attempt: 2, attempts: 3, delayMs: 2000, error,
};

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
    expect(noticeLine(notice)).toBe(line);
  });
});

describe('notices', () => {
  it('reach the turn that runs, and who answers only when that changes', () => {
    const notices = new ModelNotices();
    const told: ModelNotice[] = [];
    const answer = (name: string): void => {
      notices.tell({ kind: 'answer', name });
    };
    answer('b');
    notices.listen((notice) => told.push(notice), 'a');
    for (const name of ['a', 'b', 'b', 'a']) answer(name);
    notices.tell(retry);
    notices.listen(null, 'a');
    answer('b');
    notices.tell(retry);
    expect(told).toEqual([
      { kind: 'answer', name: 'b' },
      { kind: 'answer', name: 'a' },
      retry,
    ]);
  });
});
