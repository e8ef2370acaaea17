export type { ContractAssert, ContractFramework } from './framework.ts';
export { sessionLogContract } from './session-log.ts';
export type { SessionLogUnderTest } from './session-log.ts';
