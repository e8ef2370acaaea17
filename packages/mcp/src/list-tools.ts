import { serdeJsonString } from '@celestea/core';

import { isRecord } from '@celestea/core';
import { mismatch } from './text.ts';
import { cutText } from './text.ts';
import { MAX_DESCRIPTION, MAX_PAGES, MAX_SCHEMA, MAX_TOOLS } from './limits.ts';
import type { Session } from './session.ts';
import type { Stop } from './stoppable.ts';

/** A tool as its server offers it, made safe to show. */
export interface OfferedTool {
  /** Its name with the server. */
  own: string;
  description: string;
  parameters: Record<string, unknown>;
}

const METHOD_NOT_FOUND = -32601;

/**
 * All tools of a server, page by page. A tool that cannot be used (no name, a name seen before)
 * is left out, and a schema that cannot be shown gives way to one that takes any object: one bad
 * tool must not cost the others. Read here rather than by the SDK, which refuses the whole list,
 * and compiles output schemas of the server's choice. Rejects on a list that is none, or does
 * not end.
 */
export async function listTools(
  session: Session,
  stops: readonly Stop[] = [],
): Promise<OfferedTool[]> {
  const tools = new Map<string, OfferedTool>();
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const result = await listPage(session, cursor, stops);
    if (result === null) return [];
    const { tools: listed, nextCursor } = result;
    if (!Array.isArray(listed)) {
      throw new Error(`its list of tools is malformed: ${mismatch('tools', 'an array', listed)}`);
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

async function listPage(
  session: Session,
  cursor: string | null,
  stops: readonly Stop[],
): Promise<Record<string, unknown> | null> {
  try {
    return await session.request('tools/list', cursor === null ? {} : { cursor }, { stops });
  } catch (error) {
    // A server may have no tools at all, and prompts or resources alone.
    const isNoMethod = error instanceof Error && 'code' in error && error.code === METHOD_NOT_FOUND;
    if (isNoMethod && cursor === null) return null;
    throw error;
  }
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

/** The arguments of a call are an object by protocol, whatever the schema says. */
function readSchema(schema: unknown): Record<string, unknown> {
  if (!isRecord(schema) || serdeJsonString(schema).length > MAX_SCHEMA) return anyObject();
  return schema['type'] === 'object' ? schema : { ...schema, type: 'object' };
}

/** The schema of any object. */
export const anyObject = (): Record<string, unknown> => ({ type: 'object' });
