export {
  callTools,
  done,
  failingLlm,
  HangingLlm,
  RecordingLlm,
  say,
  ScriptedLlm,
  think,
  thinkSigned,
} from './models.ts';
export type { Script, ScriptAction, StreamFate } from './models.ts';
export { FakeSessionLog } from './session-log.ts';
export type { FakeSessionLogOptions } from './session-log.ts';
export { FakeToolRegistry, Gate } from './tool-registry.ts';
export type { FakeTool, FakeToolCall } from './tool-registry.ts';
export { collectingSink } from './sink.ts';
export type { CollectingSink } from './sink.ts';
export { steeringSource } from './steering.ts';
export type { SteeringSource } from './steering.ts';
export { testContext } from './context.ts';
export { assertLogValid, LogRuleError } from '../check.ts';
export type { LogCheckOptions } from '../check.ts';
