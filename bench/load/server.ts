import process from 'node:process';

import { defaultAgentConfig } from '@celestea/core';
import { createHost, serveHost } from '@celestea/host';

import { watchProcess } from './measure.ts';
import type { FromServer, ServerSettings, ToServer } from './protocol.ts';
import { loggedTools, pacedModel } from './script.ts';

/** A server process: a host of scripted turns, which does as its parent says. */
const settings = JSON.parse(process.argv[2] ?? '') as ServerSettings;
const { folder, token, streams, ringBytes } = settings;

const tell = (message: FromServer): void => {
  process.send?.(message);
};
const script = {
  ...settings,
  onStand: (index: number) => {
    tell({ kind: 'stands', index });
  },
};
const host = createHost({
  folder,
  token,
  parts: {
    llm: pacedModel(script),
    tools: loggedTools(script),
    config: defaultAgentConfig({ max_steps: 0, context_window_tokens: 0 }),
  },
  limits: { requestsPerMinute: 1_000_000, streams },
  ring: { maxBytes: ringBytes },
  onFault: (error, { method, path }) => {
    process.stderr.write(`${method} ${path}: ${String(error)}\n`);
  },
});
const served = await serveHost(host, { closeMs: 0 });
const measure = watchProcess(folder);

process.on('message', (message: ToServer) => {
  switch (message.kind) {
    case 'measure':
      void measure().then((measurement) => {
        tell({ kind: 'measured', measurement });
      });
      break;
    case 'close':
      void close();
      break;
    default:
      message satisfies never;
  }
});
async function close(): Promise<void> {
  await served.close();
  tell({ kind: 'closed', measurement: await measure() });
  process.disconnect();
}

process.on('disconnect', () => {
  process.exit();
});
tell({ kind: 'listening', port: served.address.port });
