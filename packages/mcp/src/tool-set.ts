import { serdeJsonString, type Tool, type ToolRegistry, type ToolSpec } from '@celestea/core';

import { anyObject, type OfferedTool } from './list-tools.ts';
import { ToolNames } from './tool-names.ts';

/** What a new list of tools changed, by registered name, each in code-unit order. */
export interface McpToolsChange {
  added: string[];
  removed: string[];
  changed: string[];
}

/** Makes the tool that calls what a server offers. */
export type MakeTool = (own: string, spec: ToolSpec) => Tool;

/** Whose a tool is: a registry does not say, and a name may have been taken over. */
const owners = new WeakMap<Tool, ToolSet>();

/** The tools of one server as they are now, and the registries that follow them. */
export class ToolSet {
  readonly #make: MakeTool;
  readonly #names: ToolNames;
  readonly #registries = new Set<ToolRegistry>();
  readonly #listeners = new Set<(change: McpToolsChange) => void>();
  #tools = new Map<string, Tool>();
  #closed = false;

  constructor(prefix: string | undefined, make: MakeTool) {
    this.#names = new ToolNames(prefix);
    this.#make = make;
  }

  /** The tools that are offered now. */
  tools(): Tool[] {
    return [...this.#tools.values()];
  }

  /** Whether the server offers a tool now. */
  offers(name: string): boolean {
    return this.#tools.has(name);
  }

  /** Takes over a new list: registries first, listeners after. Never throws. */
  update(offered: readonly OfferedTool[]): void {
    if (this.#closed) return;
    const before = this.#tools;
    this.#tools = this.#read(offered);
    const change: McpToolsChange = { added: [], removed: [], changed: [] };
    for (const name of [...new Set([...before.keys(), ...this.#tools.keys()])].sort()) {
      const [old, tool] = [before.get(name), this.#tools.get(name)];
      if (old === undefined) change.added.push(name);
      else if (tool === undefined) change.removed.push(name);
      else if (tool !== old) change.changed.push(name);
    }
    if (Object.values(change).flat().length === 0) return;
    for (const registry of this.#registries) this.#follow(registry, change);
    for (const listener of [...this.#listeners]) {
      quietly(() => {
        listener(structuredClone(change));
      });
    }
  }

  /** Puts the tools into a registry and keeps them current there. */
  register(registry: ToolRegistry): void {
    for (const name of this.#tools.keys()) {
      if (this.#mayTake(registry, name)) continue;
      const reason = `there is a tool ${JSON.stringify(name)} already: give its tools a prefix`;
      throw new Error(`an MCP server's tools cannot be registered: ${reason}`);
    }
    for (const tool of this.#tools.values()) put(registry, tool);
    this.#registries.add(registry);
  }

  /** Calls a listener after each change; gives back what ends that. */
  onChange(listener: (change: McpToolsChange) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Follows no more: the tools stay where they are and fail. */
  close(): void {
    this.#closed = true;
    this.#registries.clear();
    this.#listeners.clear();
  }

  #read(offered: readonly OfferedTool[]): Map<string, Tool> {
    const names = this.#names.assign(offered.map(({ own }) => own));
    const tools = offered.map(({ own, description, parameters }): [string, Tool] => {
      const name = names.get(own) ?? own;
      const spec = Object.freeze({ name, description, parameters });
      const old = this.#tools.get(name);
      const isSame = old !== undefined && serdeJsonString(old.spec()) === serdeJsonString(spec);
      return [name, isSame ? old : this.#owned(this.#make(own, spec))];
    });
    return new Map(tools);
  }

  #follow(registry: ToolRegistry, { added, removed, changed }: McpToolsChange): void {
    for (const name of [...added, ...changed]) {
      const tool = this.#tools.get(name);
      // A name that somebody else has taken meanwhile stays theirs.
      if (tool === undefined || !this.#mayTake(registry, name)) continue;
      quietly(() => {
        put(registry, tool);
      });
    }
    for (const name of removed) {
      const there = registry.get(name);
      if (there === undefined || owners.get(there) !== this) continue;
      quietly(() => {
        put(registry, this.#tombstone(name));
      });
    }
  }

  /** A registry takes the last tool of a name; a server must not take over a tool of another. */
  #mayTake(registry: ToolRegistry, name: string): boolean {
    const there = registry.get(name);
    const owner = there === undefined ? this : owners.get(there);
    return owner !== undefined && (owner === this || owner.#closed);
  }

  /** A registry forgets no tool, so one that is gone stays, and says that it is. */
  #tombstone(name: string): Tool {
    const description = 'Not available: its server no longer offers it. Calling it fails.';
    const spec = Object.freeze({ name, description, parameters: anyObject() });
    return this.#owned({
      spec: () => spec,
      execute: () => Promise.reject(new Error(noLongerOffered(name))),
    });
  }

  #owned(tool: Tool): Tool {
    owners.set(tool, this);
    return tool;
  }
}

/** What a call of a tool that is gone fails with. */
export const noLongerOffered = (name: string): string =>
  `the tool ${JSON.stringify(name)} is gone: its MCP server no longer offers it`;

/**
 * Registers a tool with the schema that its server gave it. A registry may check schemas; what it
 * refuses of a server's becomes one of any object.
 */
function put(registry: ToolRegistry, tool: Tool): void {
  try {
    registry.register(tool);
  } catch {
    const spec = Object.freeze({ ...tool.spec(), parameters: anyObject() });
    const lenient: Tool = { ...tool, spec: () => spec };
    const owner = owners.get(tool);
    if (owner !== undefined) owners.set(lenient, owner);
    registry.register(lenient);
  }
}

/** Does what may throw where nobody is there to hear of it. */
export function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // Its own matter.
  }
}
