export { traceLoop, traceLoopPlugin } from './trace-loop.ts';
export type { TracedLoop } from './trace-loop.ts';
export { tracedLlm, tracedTools } from './traced-seams.ts';
export type { CallTraceOptions, TraceOptions } from './options.ts';
