import { writeFileSync } from 'node:fs';

import { JsonlSessionLog } from '@celestea/session';

import { longRow, ordinaryRows, withFolder } from './log-rows.ts';
import { medianCall } from './median-call.ts';
import { parameter, serve, timed } from './serve.ts';

serve({
  append: (parameters) =>
    withFolder(async (file) => {
      const row = longRow();
      const log = await JsonlSessionLog.open(file);
      try {
        return {
          us: medianCall(parameter(parameters, 'rows'), () => {
            log.append(row);
          }),
        };
      } finally {
        await log.close();
      }
    }),
  reopen: (parameters) =>
    withFolder(async (file) => {
      const count = parameter(parameters, 'rows');
      writeFileSync(file, ordinaryRows(count).map((row) => `${JSON.stringify(row)}\n`).join(''));
      const { ms, value } = await timed(() => JsonlSessionLog.open(file));
      const { rows } = value.report;
      await value.close();
      if (rows !== count) throw new Error(`${String(rows)} rows`);
      return { ms };
    }),
});
