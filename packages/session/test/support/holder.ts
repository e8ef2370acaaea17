/**
 * A process that opens each log whose path it is sent, one a line, and answers with `open`,
 * or with the error's name and the holder's process. It keeps them until its input ends.
 */
import { createInterface } from 'node:readline';

import { JsonlSessionLog, SessionLogInUseError } from '../../src/index.ts';

const logs: JsonlSessionLog[] = [];

for await (const path of createInterface({ input: process.stdin })) {
  try {
    logs.push(await JsonlSessionLog.open(path));
    process.stdout.write('open\n');
  } catch (error) {
    const held = error instanceof SessionLogInUseError ? String(error.holder?.pid) : String(error);
    process.stdout.write(`refused ${held}\n`);
  }
}
for (const log of logs) await log.close();
