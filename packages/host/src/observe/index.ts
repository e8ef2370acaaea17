export { hostLogger, LOG_LEVELS } from './host-lines.ts';
export type { HostLogLevel } from './host-lines.ts';
export { Observer } from './observer.ts';
export type { HostFault } from './seen.ts';
