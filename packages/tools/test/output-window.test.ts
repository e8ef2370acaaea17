import { describe, expect, test } from 'vitest';

import { OutputWindow } from '../src/work/output-window.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

function windowOf(keep: number, ...chunks: Uint8Array[]): OutputWindow {
  const output = new OutputWindow(keep);
  for (const chunk of chunks) output.push(chunk);
  return output;
}

/** A text cut into pieces of one length. */
function pieces(text: string, length: number): Uint8Array[] {
  const bytes = bytesOf(text);
  const cuts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += length) cuts.push(bytes.subarray(at, at + length));
  return cuts;
}

const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz';

describe('OutputWindow', () => {
  test('an output that fits is given as it is, however it came', () => {
    for (let length = 0; length <= 10; length += 1) {
      for (const step of [1, 2, 3, 5, 7, 20]) {
        const text = DIGITS.slice(0, length);
        expect(windowOf(10, ...pieces(text, step)).text()).toBe(text);
      }
    }
  });

  test('of a longer one the first and the last bytes, and exactly how many are left out', () => {
    for (let length = 11; length <= DIGITS.length; length += 1) {
      for (const step of [1, 2, 3, 4, 5, 6, 7, 11, 40]) {
        const text = DIGITS.slice(0, length);
        const left = String(length - 10);
        const output = windowOf(10, ...pieces(text, step));
        expect(output.text()).toBe(
          `01234\n[… ${left} bytes left out …]\n${text.slice(-5)}`,
        );
        expect(output.total).toBe(length);
      }
    }
  });

  test('a character that is cut is left out as a whole, and counted', () => {
    for (const letter of ['é', '€', '😀']) {
      const size = bytesOf(letter).length;
      for (let shift = 0; shift < size; shift += 1) {
        const text = 'x'.repeat(shift) + letter.repeat(20) + 'y'.repeat(shift);
        const shown = windowOf(24, ...pieces(text, 5)).text();
        const parts = shown.split(/\n\[… (\d+) bytes left out …\]\n/);
        const [head = '', left = '', tail = ''] = parts;
        expect(shown).not.toContain('\ufffd');
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
        expect(bytesOf(head + tail).length + Number(left)).toBe(bytesOf(text).length);
      }
    }
  });

  test('what is no UTF-8 is replaced, and a byte order mark is kept', () => {
    expect(windowOf(10, new Uint8Array([0x61, 0xff, 0xc3, 0x28])).text()).toBe('a\ufffd\ufffd(');
    expect(windowOf(10, bytesOf('\ufeffx')).text()).toBe('\ufeffx');
    expect(windowOf(8, new Uint8Array(50).fill(0x80)).text()).toContain('left out');
    expect(windowOf(8, new Uint8Array(50).fill(0xff)).text()).toBe(
      '\ufffd\ufffd\ufffd\ufffd\n[… 42 bytes left out …]\n\ufffd\ufffd\ufffd\ufffd',
    );
  });
});
