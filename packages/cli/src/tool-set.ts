import { resolve } from 'node:path';

import { errorMessage } from '@celestea/agent-loop';
import type { Tool, ToolGuard, ToolRegistry } from '@celestea/core';
import {
  askBefore,
  DefaultToolRegistry,
  fileTools,
  workTools,
  type ApprovalService,
} from '@celestea/tools';

import type { Refusal } from './complain.ts';
import { EXIT } from './exit-code.ts';
import { startServers, type ServerPlaces } from './mcp-servers.ts';
import { kindAt } from './places.ts';
import { safeLine } from './safe-text.ts';
import type { ToolSettings } from './tool-settings.ts';

/** The tools the model is offered. They are closed by who opened them. */
export interface ToolSet {
  /** They in a registry of its own, whose calls are approved there; servers are shared by all. */
  readonly registryFor: (approvals: ApprovalService) => ToolRegistry;
  /** Whether a call of the tool has to be approved. */
  readonly asks: (name: string) => boolean;
  /** Ends the servers. Never rejects. */
  readonly close: () => Promise<void>;
}

/** What tools are opened with. */
export interface ToolPlaces extends ServerPlaces {
  /** The folder, as it was given; `null` for the current one. */
  readonly root: string | null;
}

/** The tools, or why there are none. */
export type OpenedToolSet =
  | { readonly ok: true; readonly tools: ToolSet; readonly root: string }
  | Refusal;

/** What is wrong with the folder, before anything else is done; `null` when nothing is. */
export function checkRoot(places: Pick<ToolPlaces, 'root' | 'typedIn'>): Refusal | null {
  try {
    const problem = rootProblem(rootOf(places));
    return problem === null ? null : badRoot(places, problem);
  } catch (error) {
    return badRoot(places, errorMessage(error));
  }
}

/** Opens the tools over a folder, and those of the servers. Never rejects. */
export async function openToolSet(
  settings: ToolSettings,
  places: ToolPlaces,
): Promise<OpenedToolSet> {
  const root = rootOf(places);
  const problem = checkRoot(places);
  if (problem !== null) return problem;
  let own: OwnTools;
  try {
    own = ownTools(root, settings);
  } catch (error) {
    return badRoot(places, errorMessage(error));
  }
  const started = await startServers(settings.servers, places);
  if (!started.ok) return started;
  const { close, tools: foreign } = started;
  const asks = (name: string): boolean => !settings.yes && !own.reading.has(name);
  const registryFor = (approvals: ApprovalService): ToolRegistry => {
    const registry = new DefaultToolRegistry({ findApproval: () => approvals });
    for (const tool of own.tools) registry.register(tool);
    for (const guard of own.guards) registry.addGuard(guard);
    foreign.follow(registry);
    if (!settings.yes) registry.addGuard(askForeign(own, registry));
    return registry;
  };
  return { ok: true, root, tools: { registryFor, asks, close } };
}

/** The tools of the command itself. */
interface OwnTools {
  readonly tools: readonly Tool[];
  readonly guards: readonly ToolGuard[];
  /** The names of those that only read. */
  readonly reading: ReadonlySet<string>;
}

/** Throws when there is no such folder. */
function ownTools(root: string, { readOnly, yes }: ToolSettings): OwnTools {
  const files = fileTools(root);
  const reading = new Set(files.map((tool) => tool.spec().name));
  if (readOnly) return { tools: files, guards: [], reading };
  const { tools, guard } = workTools(root, yes ? { ask: false } : {});
  return { tools: [...files, ...tools], guards: [guard], reading };
}

/** Whatever else there is asks: what a server says of its tools is not to be relied on. */
function askForeign({ tools }: OwnTools, registry: ToolRegistry): ToolGuard {
  const known = new Set(tools.map((tool) => tool.spec().name));
  const isForeign = (name: string): boolean =>
    !known.has(name) && registry.get(name) !== undefined;
  return askBefore(({ name }) => isForeign(name), 'it is a tool of an MCP server');
}

/** The folder, absolute. */
export const rootOf = ({ root, typedIn }: Pick<ToolPlaces, 'root' | 'typedIn'>): string =>
  resolve(typedIn, root ?? '.');

function rootProblem(root: string): string | null {
  const kind = kindAt(root);
  if (kind === 'folder') return null;
  const shown = `"${safeLine(root, 400)}"`;
  return kind === 'nothing'
    ? `the folder ${shown} does not exist`
    : `expected a folder, but ${shown} is something else`;
}

function badRoot({ root }: Pick<ToolPlaces, 'root'>, problem: string): Refusal {
  const option = root === null ? 'the current folder' : '--root';
  return { ok: false, code: EXIT.misuse, error: `${option}: ${problem}` };
}
