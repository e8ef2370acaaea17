import type { Context } from './context.ts';

/** Something that provides services to a scope. */
export interface Plugin {
  name(): string;
  mount(ctx: Context): void;
}

/** A plugin from its name and what it does. */
export function definePlugin(name: string, mount: (ctx: Context) => void): Plugin {
  return { name: () => name, mount };
}

/** Mounts plugins in order and returns the scope. */
export function mountPlugins(ctx: Context, plugins: Iterable<Plugin>): Context {
  for (const plugin of plugins) plugin.mount(ctx);
  return ctx;
}

/** Their names, in order. */
export function pluginNames(plugins: Iterable<Plugin>): string[] {
  return Array.from(plugins, (plugin) => plugin.name());
}
