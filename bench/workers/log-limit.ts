import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';

import { longRow, ordinaryRows, withFolder } from './log-rows.ts';
import { medianCall } from './median-call.ts';
import { parameter, serve, timed } from './serve.ts';

serve({
  /** One `writeSync` of a line that is a string already. */
  append: (parameters) =>
    withFolder((file) => {
      const line = `${JSON.stringify(longRow())}\n`;
      const fd = openSync(file, 'a');
      try {
        return { us: medianCall(parameter(parameters, 'rows'), () => writeSync(fd, line)) };
      } finally {
        closeSync(fd);
      }
    }),
  /** The file read at once, and `JSON.parse` for each line. */
  reopen: (parameters) =>
    withFolder(async (file) => {
      const count = parameter(parameters, 'rows');
      writeFileSync(file, ordinaryRows(count).map((row) => `${JSON.stringify(row)}\n`).join(''));
      const { ms, value } = await timed(() => {
        const rows: unknown[] = [];
        for (const line of readFileSync(file, 'utf8').split('\n')) {
          if (line !== '') rows.push(JSON.parse(line));
        }
        return rows;
      });
      if (value.length !== count) throw new Error(`${String(value.length)} rows`);
      return { ms };
    }),
});
