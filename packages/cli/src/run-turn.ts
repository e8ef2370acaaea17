import { resolve } from 'node:path';

import { createAgentLoop, errorMessage, type EventSink } from '@celestea/agent-loop';
import {
  Context,
  defaultAgentConfig,
  LLM_SERVICE,
  SESSION_LOG_SERVICE,
  TOOL_REGISTRY_SERVICE,
  type Llm,
  type SessionLog,
  type Tool,
} from '@celestea/core';
import { OfflineLlm } from '@celestea/llm';
import { InMemorySessionLog } from '@celestea/session';
import { DefaultToolRegistry, fileTools } from '@celestea/tools';

import type { AskCommand } from './args.ts';
import { misuse } from './complain.ts';
import { exitCodeOf, type ExitCode } from './exit-code.ts';
import type { CliIo } from './io.ts';
import { JsonLines } from './json-lines.ts';
import { TurnRenderer } from './render.ts';
import { createStyle, wantsColours } from './style.ts';
import { TurnMeter } from './turn-meter.ts';

/** A model and what people know it by. */
export interface NamedLlm {
  readonly name: string;
  readonly llm: Llm;
}

const SESSION = 'cli';

/**
 * Runs one turn over the files of a folder, shows it on `io.stdout` as it goes, and gives the
 * exit code. `model` answers in place of the offline one. A folder that cannot be used is told
 * on `io.stderr`; it rejects only with what a broken seam throws.
 */
export async function runTurn(
  command: AskCommand,
  io: CliIo,
  model: NamedLlm = offlineModel(command),
): Promise<ExitCode> {
  const root = rootFolder(command, io);
  let tools: Tool[];
  try {
    tools = fileTools(root);
  } catch (error) {
    return misuse(io.stderr, errorMessage(error));
  }
  const meter = new TurnMeter(io.now);
  const log = new InMemorySessionLog();
  const loop = createAgentLoop(defaultAgentConfig({ model: model.name }), {
    signal: io.signal,
    usage: meter.usage,
    sink: command.json ? frames(io, log) : lines(io, meter, model.name, root),
  });
  const ctx = Context.root()
    .provide(LLM_SERVICE, meter.countSteps(model.llm))
    .provide(SESSION_LOG_SERVICE, log)
    .provide(TOOL_REGISTRY_SERVICE, meter.timeCalls(registryOf(tools)));
  return exitCodeOf(await loop.runTurnOutcome(ctx, command.question));
}

function offlineModel({ modelDelayMs }: AskCommand): NamedLlm {
  return { name: 'offline model', llm: new OfflineLlm({ delayMs: modelDelayMs }) };
}

/** A script runner such as pnpm moves to its package; `INIT_CWD` says where the person was. */
function rootFolder({ root }: AskCommand, { cwd, env }: CliIo): string {
  const typedIn = env['INIT_CWD'] ?? '';
  return resolve(typedIn === '' ? cwd : typedIn, root ?? '.');
}

function registryOf(tools: readonly Tool[]): DefaultToolRegistry {
  const registry = new DefaultToolRegistry();
  for (const tool of tools) registry.register(tool);
  return registry;
}

function frames({ stdout }: CliIo, log: SessionLog): EventSink {
  const writer = new JsonLines({
    write: (text) => stdout.write(text),
    session: SESSION,
    turn: () => lastTurnId(log),
  });
  return (event) => {
    writer.render(event);
  };
}

function lines(io: CliIo, figures: TurnMeter, model: string, root: string): EventSink {
  const renderer = new TurnRenderer({
    write: (text) => io.stdout.write(text),
    style: createStyle(wantsColours(io)),
    figures,
  });
  renderer.header(model, root);
  return (event) => {
    renderer.render(event);
  };
}

function lastTurnId(log: SessionLog): string {
  const start = log.events().findLast((row) => row.type === 'turn_start');
  return start?.id ?? '';
}
