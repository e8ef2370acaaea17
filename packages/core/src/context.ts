declare const serviceType: unique symbol;

/** A string that carries the type of the service it names. At run time it is that string. */
export type ServiceToken<T> = string & { readonly [serviceType]?: (service: T) => T };

/** A class, used as a token by its identity. */
export type ClassToken<T> = abstract new (...args: never[]) => T;

/** What a service can be provided under. */
export type Token<T = unknown> = ServiceToken<T> | ClassToken<T> | string | symbol;

type AnyToken = string | symbol | ClassToken<unknown>;

/** Makes a typed token: `ctx.get(token)` then needs no type argument. */
export function serviceToken<T>(name: string): ServiceToken<T> {
  return name;
}

const tokenName = (token: AnyToken): string =>
  typeof token === 'function' ? token.name || '(anonymous class)' : String(token);

/**
 * Services under tokens, with scopes: a child sees its parent's services and hides them by
 * its own.
 */
export class Context {
  readonly #services = new Map<AnyToken, unknown>();
  readonly #parent: Context | null;

  private constructor(parent: Context | null) {
    this.#parent = parent;
  }

  /** A scope without a parent. */
  static root(): Context {
    return new Context(null);
  }

  /** A child of this scope. */
  scoped(): Context {
    return new Context(this);
  }

  /** The last service provided under a token wins. Returns the scope, for chaining. */
  provide<T>(token: ServiceToken<T> | ClassToken<T>, service: T | null | undefined): this;
  provide(token: string | symbol, service: unknown): this;
  provide(token: AnyToken, service: unknown): this {
    this.#services.set(token, service);
    return this;
  }

  /** The service of this scope, or the nearest parent's; `undefined` when there is none. */
  get<T = unknown>(token: Token<T>): T | undefined;
  get(token: AnyToken): unknown {
    if (this.#services.has(token)) return this.#services.get(token);
    return this.#parent?.get(token);
  }

  /** The service, which must be there: throws an `Error` that names the token. */
  require<T = unknown>(token: Token<T>): T;
  require(token: AnyToken): unknown {
    const service = this.get(token);
    if (service === null || service === undefined) {
      throw new Error(`no service is provided under ${tokenName(token)}`);
    }
    return service;
  }

  /** Whether there is a service; one provided as `null` or `undefined` is none (C5.1). */
  has(token: Token): boolean {
    const service = this.get(token);
    return service !== null && service !== undefined;
  }

  /** The tokens provided in this very scope, in the order they were first provided. */
  localTokens(): (string | symbol | ClassToken<unknown>)[] {
    return [...this.#services.keys()];
  }
}
