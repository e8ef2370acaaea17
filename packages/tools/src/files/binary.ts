/** How much of a file's beginning tells what it is. */
export const SAMPLE_BYTES = 8_192;
const MAX_ODD_PART = 0.1;

/**
 * Whether bytes are something else than UTF-8 text: they hold a NUL, or a tenth of their first
 * 8 KiB is control characters or no UTF-8 (an image, an archive, UTF-16, another code page).
 */
export function looksBinary(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return true;
  // As a stream, since the sample may end within a character.
  const sample = new TextDecoder().decode(bytes.subarray(0, SAMPLE_BYTES), { stream: true });
  let odd = 0;
  for (let index = 0; index < sample.length; index += 1) {
    if (isOdd(sample.charCodeAt(index))) odd += 1;
  }
  return odd > sample.length * MAX_ODD_PART;
}

/** Line breaks, tabs, form feeds and the escape of coloured logs are part of texts. */
const isOdd = (unit: number): boolean =>
  unit === 0xfffd ||
  (unit < 0x20 && !(unit >= 0x08 && unit <= 0x0a) && ![0x0c, 0x0d, 0x1b].includes(unit));
