export type { ContractAssert, ContractFramework } from './framework.ts';
export { sessionLogContract } from './session-log.ts';
export type { SessionLogUnderTest } from './session-log.ts';
export { toolRegistryContract } from './tool-registry.ts';
export type { ToolRegistryUnderTest } from './tool-registry.ts';
export type { ToolRegistryPart } from './tool-registry-kit.ts';
