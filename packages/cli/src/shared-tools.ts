import type { Tool, ToolRegistry } from '@celestea/core';
import { DefaultToolRegistry } from '@celestea/tools';

/** So few registries are not worth a look at whether each is still used. */
const FEW = 64;

/**
 * Tools that come and go, as those of a server do, for any number of registries. A name that a
 * registry has from elsewhere stays as it is there. It holds on to no registry: one that nobody
 * uses any more is gone with whatever hangs on it.
 */
export class SharedTools extends DefaultToolRegistry {
  readonly #followers = new Set<WeakRef<ToolRegistry>>();
  /** How many followers there may be until those that are gone are forgotten. */
  #room = FEW;

  /** Takes a tool, and hands it to the registries that follow. Throws when it cannot be used. */
  override register(tool: Tool): void {
    const { name } = tool.spec();
    const before = this.get(name);
    super.register(tool);
    for (const reference of this.#followers) {
      const follower = reference.deref();
      if (follower === undefined) this.#followers.delete(reference);
      else handOver(tool, before, name, follower);
    }
  }

  /** Puts the tools into a registry and keeps them current there. */
  follow(registry: ToolRegistry): void {
    for (const { name } of this.schemas()) {
      const tool = this.get(name);
      if (tool !== undefined) handOver(tool, undefined, name, registry);
    }
    if (this.#followers.size >= this.#room) this.#forgetGone();
    this.#followers.add(new WeakRef(registry));
  }

  /** Makes room for twice those that live, so that following costs a look or two on average. */
  #forgetGone(): void {
    for (const reference of this.#followers) {
      if (reference.deref() === undefined) this.#followers.delete(reference);
    }
    this.#room = Math.max(FEW, 2 * this.#followers.size);
  }
}

function handOver(tool: Tool, before: Tool | undefined, name: string, to: ToolRegistry): void {
  const there = to.get(name);
  if (there === undefined || there === before) to.register(tool);
}
