import { readMcpServer, type McpServer } from './mcp-server.ts';
import type { Given } from './options.ts';

/** What the model is offered, and whether it has to ask. */
export interface ToolSettings {
  /** The servers whose tools are offered as well. */
  readonly servers: readonly McpServer[];
  /** Neither `write_file` nor `run_command`. */
  readonly readOnly: boolean;
  /** Whatever asks is allowed. */
  readonly yes: boolean;
}

/** Notes what is wrong with the options among the errors. */
export function readToolSettings({ flags, lists, errors }: Given): ToolSettings {
  const read = (lists.get('mcp') ?? []).map(readMcpServer);
  for (const result of read) if (!result.ok) errors.push(`--mcp: ${result.error}`);
  return {
    servers: read.flatMap((result) => (result.ok ? [result.server] : [])),
    readOnly: flags.has('read-only'),
    yes: flags.has('yes'),
  };
}
