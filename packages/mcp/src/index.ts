export type { McpCommand } from './child-transport.ts';
export { mcpTools } from './mcp-tools.ts';
export type { McpTools } from './mcp-tools.ts';
export type { McpProgress, McpToolsOptions } from './options.ts';
export type { McpResourceLink } from './result-value.ts';
export type { McpSource, McpUrl } from './source.ts';
export type { McpToolsChange } from './tool-set.ts';
