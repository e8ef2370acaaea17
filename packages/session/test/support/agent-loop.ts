/** The loop that the log is made for. By path: it is no dependency of this package. */
export { createAgentLoop } from '../../../../src/index.ts';
export {
  assertLogValid,
  callTools,
  done,
  FakeToolRegistry,
  say,
  ScriptedLlm,
  testContext,
  think,
  thinkSigned,
} from '../../../../src/testing/index.ts';
export { assertRequestValid } from '../../../../test/support/request-checker.ts';
export type { Script } from '../../../../src/testing/index.ts';
