/** What a request is called that no route is for. */
export const NO_ROUTE = 'other';

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST']);

/** A method, of which there are only a few whatever a caller writes. */
export const methodName = (method: string): string => (METHODS.has(method) ? method : 'other');

/** Gives the pattern that a path is of, so that nothing of what a caller wrote is told on. */
export class RouteNames {
  readonly #known: readonly { readonly pattern: string; readonly fits: RegExp }[];

  /** Patterns have names in braces: `/api/sessions/{id}`. */
  constructor(patterns: readonly string[]) {
    this.#known = [...new Set(patterns)].map((pattern) => ({ pattern, fits: matcher(pattern) }));
  }

  /** `null` for a path of none. */
  of(path: string): string | null {
    return this.#known.find(({ fits }) => fits.test(path))?.pattern ?? null;
  }
}

function matcher(pattern: string): RegExp {
  const parts = pattern.split(/\{\w+\}/).map((part) => part.replaceAll('.', '\\.'));
  return new RegExp(`^${parts.join('[^/]+')}$`);
}
