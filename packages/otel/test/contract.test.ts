import { HangingLlm, testContext } from '@celestea/agent-loop/testing';
import {
  LLM_SERVICE,
  TOOL_REGISTRY_SERVICE,
  type Context,
  type Llm,
  type ToolRegistry,
} from '@celestea/core';
import { llmContract, toolRegistryContract } from '@celestea/core/contracts';
import { DefaultToolRegistry } from '@celestea/tools';
import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { afterAll, assert, beforeAll, describe, test } from 'vitest';

import { tracedLlm, tracedTools } from '../src/index.ts';
import { readOptions } from '../src/options.ts';
import { tracedScope } from '../src/traced-seams.ts';
import { TurnTrace } from '../src/turn-trace.ts';
import { contractLlm } from './support/contract-llm.ts';
import { recorder } from './support/recorder.ts';

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});

afterAll(() => {
  context.disable();
});

/** A seam that is traced, and what ends its turn and looks at the spans. */
interface Traced<Seam> {
  readonly seam: Seam;
  readonly dispose: () => void;
}

function byItself<Seam>(wrap: (options: object) => Seam): Traced<Seam> {
  const { tracer, expectAllEnded } = recorder();
  return { seam: wrap({ tracer, captureContent: true }), dispose: expectAllEnded };
}

/** The seams of a turn, each taken out of its scope. */
function ofTurn<Seam>(ctx: Context, seamOf: (scope: Context) => Seam): Traced<Seam> {
  const { tracer, expectAllEnded } = recorder();
  const tracing = readOptions({ tracer, captureContent: true });
  const turn = new TurnTrace(tracing, { ctx, input: null, model: 'm' });
  return {
    seam: seamOf(tracedScope(ctx, turn)),
    dispose: () => {
      turn.end('completed');
      expectAllEnded();
    },
  };
}

const llms: Readonly<Record<string, (llm: Llm) => Traced<Llm>>> = {
  'a model that is traced by itself': (llm) => byItself((options) => tracedLlm(llm, options)),
  'the model of a traced turn': (llm) =>
    ofTurn(testContext({ llm }), (scope) => scope.require(LLM_SERVICE)),
};

describe.each(Object.entries(llms))('%s', (_title, wrap) => {
  llmContract(
    (_scenario, replies) => {
      const { llm, ...rest } = contractLlm(replies);
      const { seam, dispose } = wrap(llm);
      return { llm: seam, ...rest, dispose };
    },
    { test, assert },
  );
});

const registries: Readonly<Record<string, (tools: ToolRegistry) => Traced<ToolRegistry>>> = {
  'tools that are traced by themselves': (tools) =>
    byItself((options) => tracedTools(tools, options)),
  'the tools of a traced turn': (tools) =>
    ofTurn(testContext({ llm: new HangingLlm(), tools }), (scope) =>
      scope.require(TOOL_REGISTRY_SERVICE),
    ),
};

describe.each(Object.entries(registries))('%s', (_title, wrap) => {
  toolRegistryContract(
    () => {
      const { seam, dispose } = wrap(new DefaultToolRegistry());
      return { registry: seam, dispose };
    },
    { test, assert },
  );
});
