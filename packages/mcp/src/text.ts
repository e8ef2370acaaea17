/** At most `max` UTF-16 units of a text, with an ellipsis where it was cut. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const head = text.slice(0, max - 1).replace(/[\ud800-\udbff]$/, ''); // no half characters
  return `${head}…`;
}
