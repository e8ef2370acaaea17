import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import type { Tool, ToolOutput } from '@celestea/core';
import { DefaultToolRegistry } from '@celestea/tools';
import { afterEach, expect } from 'vitest';

const made: string[] = [];

afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A fresh folder that is gone after the test, with files by their relative path. */
export function freshFolder(files: Record<string, string | Uint8Array> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'celestea-tools-'));
  made.push(folder);
  for (const [path, content] of Object.entries(files)) put(join(folder, path), content);
  return folder;
}

export function put(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** What comes of a call of a tool, by its name, at a registry that asks nobody. */
export async function outputOf(tool: Tool, args: unknown): Promise<ToolOutput> {
  const registry = new DefaultToolRegistry();
  registry.register(tool);
  return registry.dispatch({ call_id: 'call-1', name: tool.spec().name, args });
}

/** The message a tool fails with. */
export async function failureOf(tool: Tool, args: unknown): Promise<string> {
  const { error, value } = await outputOf(tool, args);
  return error ?? expect.fail(`expected a failure, got ${JSON.stringify(value)}`);
}
