import { execFile } from 'node:child_process';

export interface Finished {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs Node with these arguments in a child process and waits for its end. */
export function run(args: readonly string[], cwd: string): Promise<Finished> {
  return new Promise((resolve) => {
    // Nothing else: the key of a provider would have the command ask a real model.
    const { PATH = '', HOME = '' } = process.env;
    const env = { PATH, HOME, NO_COLOR: '1', INIT_CWD: cwd };
    execFile(process.execPath, args, { cwd, env }, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      resolve({ exitCode: typeof code === 'number' ? code : -1, stdout, stderr });
    });
  });
}
