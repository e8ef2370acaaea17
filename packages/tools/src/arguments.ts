import { isRecord, mismatch } from './shape.ts';

/** The bounds of a whole number, both included, and what an absent one is. */
export interface NumberBounds {
  min: number;
  max: number;
  fallback: number;
}

/**
 * Reads the arguments of a call. Each reader throws an `Error` that names the argument, what
 * was expected and what came, which is what lets a model mend its call. An absent argument and
 * `null` are the same; an argument that nobody asked for is refused rather than ignored.
 */
export class Arguments {
  readonly #args: Record<string, unknown>;

  constructor(args: unknown, known: readonly string[]) {
    // Some providers send nothing, or `null`, for a call without arguments.
    const given = args ?? {};
    if (!isRecord(given)) throw new Error(mismatch('arguments', 'an object', given));
    const stranger = Object.keys(given).find((name) => !known.includes(name));
    if (stranger !== undefined) {
      throw new Error(mismatch('arguments', `only ${known.join(', ')}`, stranger));
    }
    this.#args = given;
  }

  /** A non-empty string of at most `maxLength` UTF-16 units. */
  text(name: string, maxLength: number, fallback?: string): string {
    const value = this.#own(name) ?? fallback;
    if (typeof value !== 'string' || value === '') {
      throw new Error(mismatch(name, 'a non-empty string', value));
    }
    if (value.length > maxLength) {
      const most = `a string of at most ${String(maxLength)} characters`;
      throw new Error(`${name}: expected ${most}, got ${String(value.length)}`);
    }
    return value;
  }

  /** A whole number within bounds. */
  wholeNumber(name: string, { min, max, fallback }: NumberBounds): number {
    const value = this.#own(name) ?? fallback;
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) {
      return value;
    }
    throw new Error(mismatch(name, `a whole number from ${String(min)} to ${String(max)}`, value));
  }

  /** `true` or `false`. */
  flag(name: string, fallback: boolean): boolean {
    const value = this.#own(name) ?? fallback;
    if (typeof value !== 'boolean') throw new Error(mismatch(name, 'true or false', value));
    return value;
  }

  #own(name: string): unknown {
    return Object.hasOwn(this.#args, name) ? this.#args[name] : undefined;
  }
}
