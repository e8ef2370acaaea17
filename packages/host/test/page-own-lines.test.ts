import { expect, test } from 'vitest';

import { OwnLines, type LineStorage } from '../page/own-lines.ts';

class MemoryStorage implements LineStorage {
  readonly #items = new Map<string, string>();
  getItem(key: string): string | null {
    return this.#items.get(key) ?? null;
  }
  setItem(key: string, value: string): void {
    this.#items.set(key, value);
  }
}

const full: LineStorage = {
  getItem: () => '{ no json',
  setItem: () => {
    throw new Error('full');
  },
};

test('a tab takes back the lines that it sent, once', () => {
  const own = new OwnLines(new MemoryStorage());
  own.note('s', 'turn-1', 'mine');
  own.note('s', 'turn-1', 'taken');
  expect(own.takeBack('s', 'turn-1', ['theirs', 'mine', 'mine'])).toEqual(['mine']);
  expect(own.takeBack('s', 'turn-1', ['theirs', 'mine', 'mine'])).toEqual([]);
});

test('a line that was sent twice and taken by no turn comes back twice', () => {
  const own = new OwnLines(null);
  own.note('s', 'turn-1', 'a');
  own.note('s', 'turn-1', 'a');
  expect(own.takeBack('s', 'turn-1', ['a', 'a', 'a'])).toEqual(['a', 'a']);
});

test('another tab, another session and another turn take nothing', () => {
  const own = new OwnLines(new MemoryStorage());
  own.note('s', 'turn-1', 'a');
  expect(new OwnLines(new MemoryStorage()).takeBack('s', 'turn-1', ['a'])).toEqual([]);
  expect(own.takeBack('other', 'turn-1', ['a'])).toEqual([]);
  expect(own.takeBack('s', 'turn-0', ['a'])).toEqual([]);
  expect(own.takeBack('s', 'turn-1', ['a'])).toEqual(['a']);
});

test('lines of an earlier turn are not kept for a later one', () => {
  const own = new OwnLines(null);
  own.note('s', 'turn-1', 'a');
  own.note('s', 'turn-2', 'b');
  expect(own.takeBack('s', 'turn-2', ['a', 'b'])).toEqual(['b']);
});

test('a line that the host did not take is not taken back', () => {
  const own = new OwnLines(null);
  own.forget('s', 'a');
  own.note('s', 'turn-1', 'a');
  own.note('s', 'turn-1', 'b');
  own.forget('s', 'a');
  own.forget('s', 'never sent');
  expect(own.takeBack('s', 'turn-1', ['a', 'b'])).toEqual(['b']);
});

test('a tab that is loaded again still knows its lines, and takes them once', () => {
  const storage = new MemoryStorage();
  new OwnLines(storage).note('s', 'turn-1', 'a');
  expect(new OwnLines(storage).takeBack('s', 'turn-1', ['a'])).toEqual(['a']);
  expect(new OwnLines(storage).takeBack('s', 'turn-1', ['a'])).toEqual([]);
});

test('a storage that takes nothing loses nothing while the tab lives', () => {
  const own = new OwnLines(full);
  own.note('s', 'turn-1', 'a');
  expect(own.takeBack('s', 'turn-1', ['a'])).toEqual(['a']);
});
