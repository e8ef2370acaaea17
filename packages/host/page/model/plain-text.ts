import { valueText } from './result-text.ts';
import type { Item } from './view.ts';

/** What an item says, for when it cannot be drawn. */
export function plainText(item: Item): string {
  switch (item.kind) {
    case 'user':
    case 'reasoning':
    case 'reply':
    case 'notice':
      return item.text;
    case 'call': {
      const { name, args, result } = item;
      const came = result === null ? '' : `\n${result.error ?? valueText(result.value)}`;
      return `${name} ${valueText(args)}${came}`;
    }
    default:
      return item satisfies never;
  }
}
