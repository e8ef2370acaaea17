import { execFile } from 'node:child_process';

export interface Finished {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs Node with these arguments in a child process and waits for its end. */
export function run(args: readonly string[], cwd: string): Promise<Finished> {
  return new Promise((resolve) => {
    const env: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: '1', INIT_CWD: cwd };
    delete env['FORCE_COLOR']; // beside NO_COLOR it makes Node warn
    execFile(process.execPath, args, { cwd, env }, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      resolve({ exitCode: typeof code === 'number' ? code : -1, stdout, stderr });
    });
  });
}
