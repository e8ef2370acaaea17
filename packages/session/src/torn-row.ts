/** How each row starts that a log writes (C4.4). */
const ROW_START = '{"type":"';

/**
 * Whether bytes are what a write leaves that was cut off: the start of one row, which the rest
 * of a row could still follow. Anything else was not written by a log, and is not for a log to
 * remove.
 */
export function isTornRow(bytes: Uint8Array): boolean {
  let text: string;
  try {
    // As a stream: a character whose last bytes are missing is no fault.
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, STREAM);
  } catch {
    return false;
  }
  if (text.length < ROW_START.length) return ROW_START.startsWith(text);
  return text.startsWith(ROW_START) && isObjectStart(text);
}

const STREAM = { stream: true };

/**
 * Whether the end of its last token and brackets make one object of a text. One pass counts what
 * is open; that all of it is JSON is for the parser to say.
 */
function isObjectStart(text: string): boolean {
  const open: string[] = [];
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '"') inString = !inString;
    else if (inString) at += char === '\\' ? 1 : 0;
    else if (char === '{') open.push('}');
    else if (char === '[') open.push(']');
    else if (char === '}' || char === ']') {
      open.pop();
      if (open.length === 0) return false; // it is whole, whatever stands behind it
    }
  }
  const closers = open.reverse().join('');
  return (inString ? STRING_ENDS : TOKEN_ENDS).some((end) => isJson(text, end + closers));
}

/** Inside of a text: the end of an escape, the quote, and a value when the text is a name. */
const STRING_ENDS = ['', '\\', '0', '00', '000', '0000'].flatMap((end) => [`${end}"`, `${end}":0`]);

/** Elsewhere: nothing, a value or its end, behind a name, and a name where one has to come. */
const TOKEN_ENDS = [
  ...['', '0', ':0', '"":0'],
  ...['true', 'false', 'null'].flatMap((word) => [1, 2, 3, 4].map((from) => word.slice(from))),
];

function isJson(text: string, end: string): boolean {
  try {
    JSON.parse(text + end);
    return true;
  } catch {
    return false;
  }
}
