import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** What a host process is started with. */
export interface Life {
  readonly folder: string;
  readonly token: string;
  readonly page: string;
  /** 0 is any that is free. */
  readonly port: number;
  /** One for each request; one that hangs never finishes its reply. */
  readonly replies: readonly { readonly text: string; readonly hangs: boolean }[];
}

/** A host in a process of its own, which can be killed. */
export interface KillableHost {
  readonly port: number;
  /** Kills it on the spot, and waits until it is gone. */
  kill(): Promise<void>;
}

/** Starts a host process and waits until it listens. */
export async function startHostProcess(life: Life): Promise<KillableHost> {
  const child = fork(new URL('host-process.ts', import.meta.url), [JSON.stringify(life)], {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const gone = once(child, 'exit');
  const port = await Promise.race([listening(child), gone.then(ended)]);
  return {
    port,
    kill: async () => {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

async function listening(child: ChildProcess): Promise<number> {
  const [port] = (await once(child, 'message')) as [number];
  return port;
}

function ended(): never {
  throw new Error('the host process ended before it listened');
}
