import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { sessionLogContract } from '@celestea/core/contracts';
import { InMemorySessionLog, JsonlSessionLog } from '@celestea/session';
import { assert, describe, test } from 'vitest';

describe('InMemorySessionLog', () => {
  sessionLogContract(() => ({ log: new InMemorySessionLog() }), { test, assert });
});

describe('JsonlSessionLog', () => {
  sessionLogContract(
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'celestea-contract-'));
      const path = join(folder, 'log.jsonl');
      let log = await JsonlSessionLog.open(path);
      return {
        log,
        reopen: async () => {
          await log.close();
          log = await JsonlSessionLog.open(path);
          return log;
        },
        dispose: async () => {
          await log.close();
          rmSync(folder, { recursive: true });
        },
      };
    },
    { test, assert },
  );
});
