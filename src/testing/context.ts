import {
  Context,
  isRecord,
  LLM_SERVICE,
  SESSION_LOG_SERVICE,
  TOOL_REGISTRY_SERVICE,
  type Llm,
  type SessionLog,
  type ToolRegistry,
} from '@celestea/core';

import { requireThat } from './require.ts';
import { FakeSessionLog } from './session-log.ts';
import { FakeToolRegistry } from './tool-registry.ts';

/** A scope with the three services of a turn; the log and the tools are fakes unless given. */
export function testContext(services: {
  llm: Llm;
  log?: SessionLog;
  tools?: ToolRegistry;
}): Context {
  requireThat(isRecord(services) && 'llm' in services, 'services: expected { llm, … }', services);
  return Context.root()
    .provide(LLM_SERVICE, services.llm)
    .provide(SESSION_LOG_SERVICE, services.log ?? new FakeSessionLog())
    .provide(TOOL_REGISTRY_SERVICE, services.tools ?? new FakeToolRegistry());
}
