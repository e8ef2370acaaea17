export { hostLogger } from './host-logger.ts';
export type { HostLogLevel } from './host-logger.ts';
export { Observer } from './observer.ts';
