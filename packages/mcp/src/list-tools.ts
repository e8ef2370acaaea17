import { describeValue, isRecord, serdeJsonString } from '@celestea/core';
import { leavePatterns } from '@celestea/tools';
import { ErrorCode } from '@modelcontextprotocol/sdk/types.js';

import type { Session } from './session.ts';
import { cutText } from './text.ts';

/** UTF-16 units of a tool's description. */
const MAX_DESCRIPTION = 4_000;
/** UTF-16 units of a tool's input schema, as JSON. */
const MAX_SCHEMA = 100_000;
const MAX_TOOLS = 1_000;
const MAX_PAGES = 200;

/** A tool as its server offers it, made safe to show. */
export interface OfferedTool {
  /** Its name with the server. */
  own: string;
  description: string;
  parameters: Record<string, unknown>;
}

/**
 * All tools of a server, page by page. A tool that cannot be used (no name, a name seen before)
 * is left out, and a schema that cannot be shown gives way to one that takes any object: one bad
 * tool must not cost the others. Read here rather than by the SDK, which refuses the whole list,
 * and compiles output schemas of the server's choice. Rejects on a list that is none, or does
 * not end, and when a page takes more than `timeout` milliseconds.
 */
export async function listTools(session: Session, timeout: number): Promise<OfferedTool[]> {
  const tools = new Map<string, OfferedTool>();
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params: Record<string, unknown> = cursor === null ? {} : { cursor };
    const { tools: listed, nextCursor } = await session
      .request('tools/list', params, { timeout })
      .catch(noTools);
    if (!Array.isArray(listed)) {
      const came = describeValue(listed);
      throw new Error(`its list of tools is malformed: tools: expected an array, got ${came}`);
    }
    for (const each of listed) {
      const tool = readTool(each);
      if (tool !== null && !tools.has(tool.own)) tools.set(tool.own, tool);
    }
    if (tools.size > MAX_TOOLS) throw new Error(`it lists more than ${String(MAX_TOOLS)} tools`);
    if (typeof nextCursor !== 'string' || nextCursor === cursor) return [...tools.values()];
    cursor = nextCursor;
  }
  throw new Error(`its list of tools does not end within ${String(MAX_PAGES)} pages`);
}

/** A server may have no tools at all, and prompts or resources alone. */
function noTools(error: unknown): Record<string, unknown> {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === ErrorCode.MethodNotFound) return { tools: [] };
  throw error;
}

function readTool(value: unknown): OfferedTool | null {
  if (!isRecord(value)) return null;
  const { name, title, description, inputSchema } = value;
  if (typeof name !== 'string' || name === '') return null;
  const said = [description, title].find((text) => typeof text === 'string' && text.trim() !== '');
  return {
    own: name,
    description: typeof said === 'string' ? cutText(said, MAX_DESCRIPTION) : '',
    parameters: readSchema(inputSchema),
  };
}

/** An object by protocol, whatever the schema says. Its patterns are left to the server. */
function readSchema(schema: unknown): Record<string, unknown> {
  if (!isRecord(schema) || serdeJsonString(schema).length > MAX_SCHEMA) return anyObject();
  return leavePatterns(schema['type'] === 'object' ? schema : { ...schema, type: 'object' });
}

/** The schema of any object. */
export const anyObject = (): Record<string, unknown> => ({ type: 'object' });
