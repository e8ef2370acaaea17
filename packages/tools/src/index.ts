export { defineTool } from './define-tool.ts';
export type {
  SchemaToolDefinition,
  StandardToolDefinition,
  ToolDefinition,
} from './define-tool.ts';
export type { FromSchema } from './from-schema.ts';
export type {
  StandardIssue,
  StandardOutput,
  StandardResult,
  StandardSchema,
} from './standard-schema.ts';
export { leavePatterns } from './schema-check.ts';
export { isDenial } from './guard.ts';
export { DefaultToolRegistry } from './registry.ts';
export type { ToolRegistryOptions } from './registry.ts';
export { toolRegistryPlugin } from './plugin.ts';
export { fileTools } from './files/file-tools.ts';
export { listDirTool } from './files/list-dir.ts';
export type { ListDirEntry, ListDirResult } from './files/list-dir.ts';
export { readFileTool } from './files/read-file.ts';
export type { ReadFileResult } from './files/read-file.ts';
export { searchTextTool } from './files/search-text.ts';
export type { SearchTextMatch, SearchTextResult } from './files/search-text.ts';
export { APPROVAL_SERVICE } from './approval.ts';
export type { ApprovalRequest, ApprovalService, ApprovalVerdict } from './approval.ts';
export { askBefore, denyTools, readOnlyGuard } from './guards.ts';
export type { CallMatcher } from './guards.ts';
export { workTools } from './work/work-tools.ts';
export type { WorkTools, WorkToolsOptions } from './work/work-tools.ts';
export type { RunCommandResult } from './work/run-command.ts';
export type { WriteFileResult } from './work/write-file.ts';
export { SESSION_HOME } from './files/session-home.ts';
export { editDistance } from './nearest-names.ts';
export { thrownText } from './thrown.ts';
