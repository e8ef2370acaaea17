import type { Look } from './want.ts';

const WRITE = new RegExp(
  '^(?:please,? )?(?:write|save|put) (?:the (?:text|words?|line) )?' +
    '(?:"([^"]*)"|“([^”]*)”|`([^`]*)`|\'([^\'\\n]*)\'|([\\w ,!\'’-]{1,60})) (?:to|into|in|as) ' +
    '(?:(?:a|the) )?(?:new )?(?:file )?[`"]?([^\\s`"\'*?<>|:@]+\\.\\w{1,10})[`"]?[.!]?$',
  'i',
);
/** Words without quotes that are about the text to write, such as `a summary` or `tests`. */
const DESCRIBES = new RegExp(
  '^(?:an?|the|my|your|it|this|that|them|some|all|everything)\\b|\\b(?:of|about|for|and|then|' +
    'tests?|code|docs?|documentation|summary|notes|changes|results?|output)\\b',
  'i',
);

/**
 * Reads a request to write one text to one file, as in `write "hello" to notes.txt`. The whole
 * question has to be one, as a write cannot be taken back; `null` for every other. Without
 * quotes it takes a few plain words, for a `.txt` or `.md` file alone.
 */
export function readWrite(question: string): Look | null {
  const [, ...groups] = WRITE.exec(question) ?? [];
  const path = groups.pop();
  const bare: string | undefined = groups.at(-1);
  const content = groups.find((text: string | undefined) => text !== undefined);
  if (path === undefined || content === undefined) return null;
  const isPlain = bare === undefined || (!DESCRIBES.test(bare) && /\.(?:txt|md)$/i.test(path));
  return isPlain ? { kind: 'look', name: 'write_file', args: { path, content }, topics: [] } : null;
}
