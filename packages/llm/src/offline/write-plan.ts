import type { WriteIntent } from './intent.ts';
import { NOTHING_TO_DO, type Move, type PlanContext } from './move.ts';
import { notOffered, showTrouble } from './show.ts';
import { count, inlineCode } from './text.ts';

/** The one call that writes; none once a tool has answered, whatever it said. */
export function planWrite({ path, content }: WriteIntent, context: PlanContext): Move {
  const { evidence, offered } = context;
  if (!offered.has('write_file') || evidence.written() !== undefined) return NOTHING_TO_DO;
  const why = `The text is given word for word, so I write it to ${inlineCode(path)}.`;
  return { calls: [{ name: 'write_file', args: { path, content } }], why: [why] };
}

/** What came of a write, as blocks of text. */
export function showWrite({ path }: WriteIntent, { evidence, offered }: PlanContext): string[] {
  const result = evidence.written();
  if (result === undefined) {
    if (offered.has('write_file')) return [`I did not come to write ${inlineCode(path)}.`];
    const why = notOffered('write_file', `write ${inlineCode(path)}`);
    return [`I have no tool to write with. ${why}`];
  }
  if (result.kind !== 'written') return [showTrouble(`Writing ${inlineCode(path)}`, result)];
  const bytes = count(result.bytes, 'byte');
  const name = inlineCode(result.path);
  return [`I ${result.created ? 'made' : 'changed'} ${name}: ${bytes}.`];
}
