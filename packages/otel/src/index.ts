export { traceLoop } from './trace-loop.ts';
export type { TracedLoop } from './trace-loop.ts';
export { traceLoopPlugin } from './plugin.ts';
export { tracedLlm, tracedTools } from './traced-seams.ts';
export type { CallTraceOptions, TraceOptions } from './options.ts';
