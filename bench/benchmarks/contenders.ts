import type { Contender } from '../compare.ts';
import type { Figures } from '../protocol.ts';

/** How each library is named in the tables. */
export const LIMIT = 'bare loop (the limit)';
export const RACING = 'a listener a delta (reference)';
export const QUEUE = 'bare loop, pulled through a promise a delta (reference)';
export const SINK = '**this library**, pushed to a sink';
export const PULL = '**this library**, pulled from `streamTurn`';

interface Driver {
  readonly label: string;
  readonly worker: string;
  readonly way: string;
  readonly peer?: true;
}

export const LIMIT_DRIVER: Driver = { label: LIMIT, worker: 'limit', way: 'limit' };
export const RACING_DRIVER: Driver = { label: RACING, worker: 'racing', way: 'racing' };
export const QUEUE_DRIVER: Driver = { label: QUEUE, worker: 'queue', way: 'queue' };
export const SINK_DRIVER: Driver = { label: SINK, worker: 'ours', way: 'sink' };
export const PULL_DRIVER: Driver = { label: PULL, worker: 'ours', way: 'pull' };
export const PEERS: readonly Driver[] = [
  { label: '`ai`', worker: 'ai-sdk', way: 'turn', peer: true },
  { label: '`@openai/agents`', worker: 'openai-agents', way: 'turn', peer: true },
  { label: '`@mariozechner/pi-agent-core`', worker: 'pi-agent-core', way: 'turn', peer: true },
  { label: '`langchain`', worker: 'langchain', way: 'turn', peer: true },
];

/** Drivers as contenders in one kind of run. */
export function contenders(
  drivers: readonly Driver[],
  kind: 'turns' | 'heap',
  parameters: Figures,
): Contender[] {
  return drivers.map(({ label, worker, way, ...rest }) => {
    return { label, worker, case: `${way}:${kind}`, parameters, ...rest };
  });
}
