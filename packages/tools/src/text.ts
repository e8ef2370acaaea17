const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

/** The nearest place at or before `index` that does not split a code point. */
export function codePointStart(text: string, index: number): number {
  return index > 0 && index < text.length && isHighSurrogate(text.charCodeAt(index - 1))
    ? index - 1
    : index;
}

/** At most `max` UTF-16 units of a text, with an ellipsis where it was cut. */
export function cutText(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, codePointStart(text, max - 1))}…`;
}

/** `1 line`, `2 lines`; `2+ lines` when there are more. */
export function counted(count: number, one: string, many: string, more = false): string {
  return `${String(count)}${more ? '+' : ''} ${count === 1 && !more ? one : many}`;
}

/** The field `note` of a result, of the parts that are said; no field when none is. */
export function noteOf(...parts: (string | false)[]): { note?: string } {
  const note = parts.filter((part) => part !== false).join('; ');
  return note === '' ? {} : { note };
}
