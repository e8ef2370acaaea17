/** Up to here all names are shown, for the right one may not look like the wrong one at all. */
const SHOW_ALL = 20;
const SHOW_NEAREST = 8;
/** What is compared of a name, and how many names are. */
const MAX_LENGTH = 64;
const MAX_COMPARED = 2_000;

/**
 * The names that come nearest to one that does not exist, best first; all of them, sorted, when
 * there are few.
 */
export function nearestNames(wanted: string, names: readonly string[]): string[] {
  if (names.length <= SHOW_ALL) return [...names].sort();
  const target = comparable(wanted);
  return names
    .slice(0, MAX_COMPARED)
    .map((name) => ({ name, distance: editDistance(target, comparable(name)) }))
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, SHOW_NEAREST)
    .map(({ name }) => name);
}

const comparable = (name: string): string => name.slice(0, MAX_LENGTH).toLowerCase();

/** How many characters have to be put in, left out or changed to get from one to the other. */
export function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let line = 1; line <= from.length; line += 1) {
    const next = [line];
    for (let column = 1; column <= to.length; column += 1) {
      const changed = from[line - 1] === to[column - 1] ? 0 : 1;
      const [left, above, both] = [next[column - 1], row[column], row[column - 1]];
      next.push(Math.min((left ?? 0) + 1, (above ?? 0) + 1, (both ?? 0) + changed));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
