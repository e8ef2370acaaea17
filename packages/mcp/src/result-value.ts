import { describeValue, isRecord, serdeJsonString, type ImageRef } from '@celestea/core';

import { describeData, keepImage } from './image-block.ts';
import type { McpToolsOptions } from './options.ts';

/** A resource that a result points to. */
export interface McpResourceLink {
  uri: string;
  name: string;
  mimeType?: string;
}

interface Parts {
  texts: string[];
  links: McpResourceLink[];
  attachments: ImageRef[];
}

/**
 * The value of a call's result. Text alone is a string, nothing is `null`; with pictures and
 * links it is `{ text?, links?, attachments? }`. Structured content is the value itself, and
 * `{ structuredContent, text?, … }` when the rest adds to it. Throws the text of a result that
 * says it is an error, and on one that is malformed.
 */
export async function resultValue(
  result: Record<string, unknown>,
  putImage: McpToolsOptions['putImage'],
): Promise<unknown> {
  // `toolResult` is what the first version of the protocol called it.
  const structured = result['structuredContent'] ?? result['toolResult'] ?? null;
  const content = result['content'] ?? [];
  if (!Array.isArray(content)) {
    const came = describeValue(content);
    throw new Error(`its result is malformed: content: expected an array, got ${came}`);
  }
  const failed = Boolean(result['isError']);
  const parts = await readParts(content, failed ? undefined : putImage);
  if (failed) throw new Error(failureText(parts, structured));
  return structured === null ? plainValue(parts) : structuredValue(structured, parts);
}

async function readParts(
  content: readonly unknown[],
  putImage: McpToolsOptions['putImage'],
): Promise<Parts> {
  const parts: Parts = { texts: [], links: [], attachments: [] };
  for (const block of content) {
    if (isRecord(block)) await readBlock(block, parts, putImage);
    else parts.texts.push(unreadable(block));
  }
  return parts;
}

async function readBlock(
  block: Record<string, unknown>,
  { texts, links, attachments }: Parts,
  putImage: McpToolsOptions['putImage'],
): Promise<void> {
  const { type, text, data, mimeType, resource } = block;
  switch (type) {
    case 'text':
      texts.push(typeof text === 'string' ? text : unreadable(text));
      return;
    case 'image': {
      const kept = await keepImage(data, mimeType, putImage);
      if (typeof kept === 'string') texts.push(kept);
      else attachments.push(kept);
      return;
    }
    case 'audio':
      texts.push(`[${describeData('audio', data, mimeType)}: not shown]`);
      return;
    case 'resource_link':
      links.push(readLink(block));
      return;
    case 'resource':
      texts.push(isRecord(resource) ? resourceText(resource) : unreadable(resource));
      return;
    default:
      texts.push(`[content of the unknown type ${describeValue(type)}]`);
  }
}

function readLink({ uri, name, mimeType }: Record<string, unknown>): McpResourceLink {
  return {
    uri: typeof uri === 'string' ? uri : '',
    name: typeof name === 'string' ? name : '',
    ...(typeof mimeType === 'string' ? { mimeType } : {}),
  };
}

function resourceText({ uri, text, blob, mimeType }: Record<string, unknown>): string {
  if (typeof text === 'string') return text;
  const of = typeof uri === 'string' ? ` ${uri.slice(0, 500)}` : '';
  return `[${describeData(`resource${of},`, blob, mimeType)}: not shown]`;
}

const unreadable = (value: unknown): string => `[unreadable content: ${describeValue(value)}]`;

function plainValue(parts: Parts): unknown {
  const { texts, links, attachments } = parts;
  if (links.length > 0 || attachments.length > 0) return besides(parts);
  return texts.length === 0 ? null : texts.join('\n');
}

function structuredValue(structured: unknown, parts: Parts): unknown {
  // Servers send structured content as text as well, for clients that do not know it.
  const same = serdeJsonString(structured);
  const more: Parts = { ...parts, texts: parts.texts.filter((text) => !isJsonOf(text, same)) };
  const rest = besides(more);
  // A value's `attachments` show pictures of the host: they are not the server's to name.
  const claims = isRecord(structured) && Object.hasOwn(structured, 'attachments');
  if (Object.keys(rest).length === 0 && !claims) return structured;
  return { structuredContent: structured, ...rest };
}

function besides({ texts, links, attachments }: Parts): Record<string, unknown> {
  return {
    ...(texts.length > 0 || attachments.length > 0 ? { text: texts.join('\n') } : {}),
    ...(links.length > 0 ? { links } : {}),
    ...(attachments.length > 0 ? { attachments } : {}),
  };
}

function isJsonOf(text: string, json: string): boolean {
  try {
    return serdeJsonString(JSON.parse(text)) === json;
  } catch {
    return false;
  }
}

function failureText({ texts, links }: Parts, structured: unknown): string {
  const said = [...texts, ...links.map((link) => link.uri)].join('\n').trim();
  if (said !== '') return said;
  return structured === null ? 'the tool failed without saying why' : serdeJsonString(structured);
}
