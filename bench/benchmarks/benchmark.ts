import type { Effort } from '../compare.ts';
import type { Table } from '../table.ts';

/** One benchmark of the run. */
export type Benchmark = (effort: Effort) => Promise<Table[]>;
