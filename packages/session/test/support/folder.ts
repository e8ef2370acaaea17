import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { onTestFinished } from 'vitest';

/** A folder of the test's own, removed when it is over. */
export function testFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'celestea-session-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** A file in a folder of the test's own. */
export function testFile(name = 'log.jsonl'): string {
  return join(testFolder(), name);
}

const MEMORY = '/dev/shm';

/** The same in memory where there is such a place, for tests that sync thousands of times. */
export function quickFile(name = 'log.jsonl'): string {
  return join(testFolder(existsSync(MEMORY) ? MEMORY : tmpdir()), name);
}
