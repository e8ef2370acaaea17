import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterEach } from 'vitest';

const made: string[] = [];

afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A fresh folder that is gone after the test, with files by their relative path. */
export function freshFolder(files: Record<string, string> = {}): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'celestea-cli-')));
  made.push(folder);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

/** What stands in the header for a session of the folder, as a pattern. */
export const SESSION_FILE =
  String.raw`\.celestea/sessions/\d{4}-\d\d-\d\dt\d\d-\d\d-\d\dz-[0-9a-f]{8}\.jsonl`;
