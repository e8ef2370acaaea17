/** How many letters of the word may be wrong: one of a short word, two of a longer one. */
const mistakes = (word: string): number => (word.length < 4 ? 1 : 2);

/** The name that a mistyped word most likely means, or `null` when none is near. */
export function nearestName(word: string, names: readonly string[]): string | null {
  if (word.length < 2) return null;
  let best: { readonly name: string; readonly distance: number } | null = null;
  for (const name of names) {
    const distance = editDistance(word, name);
    if (distance > mistakes(word) || distance >= name.length - 1) continue;
    if (best === null || distance < best.distance) best = { name, distance };
  }
  if (best !== null) return best.name;
  return word.length < 4 ? null : (names.find((name) => name.includes(word)) ?? null);
}

/** How many letters have to be put in, taken out or changed; Levenshtein's distance. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of Array.from(from).entries()) {
    const next = [index + 1];
    for (const [column, other] of Array.from(to).entries()) {
      const above = row[column + 1] ?? 0;
      const left = next[column] ?? 0;
      const corner = row[column] ?? 0;
      next.push(Math.min(above + 1, left + 1, corner + (letter === other ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
