import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import type { Tool } from '@celestea/core';
import { afterEach } from 'vitest';

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

/** The message a tool fails with. */
export async function failureOf(tool: Tool, args: unknown): Promise<string> {
  const came: unknown = await tool.execute(args).catch((error: unknown) => error);
  if (came instanceof Error) return came.message;
  throw new Error(`expected a failure, got ${JSON.stringify(came)}`);
}
