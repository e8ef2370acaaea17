/**
 * Installs the packed packages with plain npm, as a user would, and uses them: from JavaScript,
 * and from TypeScript of several versions, resolved as Node and as bundlers do.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

import { run } from './run.ts';

/** TypeScript that the declarations are to be read by. */
export const COMPILERS: readonly string[] = ['5.4', '5.9', '6.0', '7.0'];
const RESOLUTIONS = [
  { module: 'nodenext', moduleResolution: 'nodenext' },
  { module: 'esnext', moduleResolution: 'bundler' },
];

const PROGRAM = `
import { DefaultAgentLoop, defaultAgentConfig } from '@celestea/agent-loop';
import { callTools, say, ScriptedLlm } from '@celestea/agent-loop/testing';
import contract from '@celestea/agent-loop/contracts/sse-events.json' with { type: 'json' };
import { Context, LLM_SERVICE, SESSION_LOG_SERVICE, TOOL_REGISTRY_SERVICE } from '@celestea/core';
import { createHost } from '@celestea/host';
import { mcpTools } from '@celestea/mcp';
import { OfflineLlm } from '@celestea/offline';
import { InMemorySessionLog } from '@celestea/session';
import { defineTool, DefaultToolRegistry } from '@celestea/tools';

const tools = new DefaultToolRegistry();
tools.register(defineTool({
  name: 'double',
  description: 'Doubles a number.',
  parameters: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  execute: (args) => ({ twice: 2 * Number(args.n) }),
}));
const log = new InMemorySessionLog();
const llm = new ScriptedLlm([callTools({ id: 'a', name: 'double', args: { n: 21 } }), say('42')]);
const ctx = Context.root()
  .provide(LLM_SERVICE, llm)
  .provide(SESSION_LOG_SERVICE, log)
  .provide(TOOL_REGISTRY_SERVICE, tools);
const outcome = await new DefaultAgentLoop(defaultAgentConfig()).runTurnOutcome(ctx, 'double 21');
const parts = { llm: new OfflineLlm(), tools: () => tools, config: defaultAgentConfig() };
const host = createHost({ folder: './sessions', parts });
const health = await host.app.request('http://127.0.0.1/api/healthz');
await host.close();
const noServer = await mcpTools({ command: '' }).catch((error) => error.name);
const results = log.deriveMessages().filter(({ role }) => role === 'tool').length;
console.log(JSON.stringify([outcome, results, health.status, noServer, contract.version]));
`;

/** What the program above prints. */
const EXPECTED = '["completed",1,200,"TypeError",1]';

/** Types that did not resolve would be \`any\`, and the line below no error. */
const TYPED = `${PROGRAM}
// @ts-expect-error: a turn has no such option
void new DefaultAgentLoop(defaultAgentConfig()).runTurnOutcome(ctx, 'x', { nosuch: 1 });
`;

/** Throws with what was printed when anything of it fails. `folder` is empty and stays behind. */
export function usePackages(
  tarballs: readonly string[],
  folder: string,
  versions: readonly string[],
): void {
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  const compilers = versions.map((version) => `${compilerName(version)}@npm:typescript@~${version}`);
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  run('npm', ['install', ...quiet, ...tarballs, ...compilers, '@types/node@20'], folder);
  writeFileSync(join(folder, 'use.js'), PROGRAM);
  writeFileSync(join(folder, 'use.ts'), TYPED);
  const printed = run(process.execPath, ['use.js'], folder).trim();
  if (printed !== EXPECTED) throw new Error(`expected ${EXPECTED}, got ${printed}`);
  const version = run('npx', ['--no-install', 'celestea', '--version'], folder).trim();
  if (!/^celestea \d/.test(version)) throw new Error(`expected a version, got ${version}`);
  console.log(`installed by npm and used from JavaScript on Node ${process.version}`);
  for (const version of versions) {
    for (const resolution of RESOLUTIONS) compile(folder, version, resolution);
    console.log(`used from TypeScript ${installedVersion(folder, version)}, nodenext and bundler`);
  }
}

const compilerName = (version: string): string => `typescript-${version.replace('.', '-')}`;

function installedVersion(folder: string, version: string): string {
  const manifest = join(folder, 'node_modules', compilerName(version), 'package.json');
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

function compile(folder: string, version: string, resolution: (typeof RESOLUTIONS)[number]): void {
  const project = join(folder, `${version}-${resolution.module}`);
  mkdirSync(project);
  const compilerOptions = {
    ...resolution,
    target: 'es2022',
    lib: ['es2023', 'dom'],
    types: ['node'],
    strict: true,
    skipLibCheck: false,
    resolveJsonModule: true,
    noEmit: true,
  };
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['../use.ts'] }),
  );
  const compiler = join(folder, 'node_modules', compilerName(version), 'bin/tsc');
  try {
    run(process.execPath, [compiler, '-p', project], folder);
  } catch (error) {
    const lines = error instanceof Error ? error.message.split('\n') : [];
    const faults = lines.filter((line) => line.includes('error TS'));
    if (faults.length === 0 || !faults.every(isForeign)) throw error;
  }
}

/** A fault in the declarations of another package, some of which want a later compiler. */
const isForeign = (line: string): boolean =>
  line.startsWith('node_modules/') && !line.startsWith('node_modules/@celestea/');
