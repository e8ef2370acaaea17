const NAME = /^(\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?::([0-9]{1,5}))?$/;

/** The names that lead to this machine and nowhere else. */
const LOOPBACK: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

/** Whether a value names a host, with a port or without. */
export function isHostEntry(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value.toLowerCase());
}

/**
 * The names by which a host may be asked. A page of another site can have its own name lead to
 * this machine, and is then of the same origin as the host by all the browser knows; but the
 * name it asks by stays its own.
 */
export class HostNames {
  /** With a port, or without for every port. */
  readonly #allowed: ReadonlySet<string>;
  readonly #ports = new Set<number>();

  constructor(allowed: readonly string[]) {
    this.#allowed = new Set(allowed.map((name) => name.toLowerCase()));
  }

  /** From now on the loopback names are right with one of the ports that were told alone. */
  listensAt(port: number): void {
    this.#ports.add(port);
  }

  /** Whether a `Host` header is one of the names. */
  allows(host: string): boolean {
    const [whole, name = '', port = '80'] = NAME.exec(host.toLowerCase()) ?? [];
    if (whole === undefined) return false;
    if (this.#allowed.has(whole) || this.#allowed.has(name)) return true;
    return LOOPBACK.includes(name) && (this.#ports.size === 0 || this.#ports.has(Number(port)));
  }
}

/** Whether an `Origin` header is the one that a page of this host has. */
export function isOwnOrigin(origin: string, host: string): boolean {
  const own = [`http://${host}`, `https://${host}`].filter((url) => URL.canParse(url));
  return own.some((url) => new URL(url).origin === origin);
}

/** Whether the host is one that only this machine can reach. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '::1' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
