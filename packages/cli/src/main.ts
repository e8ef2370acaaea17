#!/usr/bin/env node
import process from 'node:process';

import { errorMessage } from '@celestea/agent-loop';

import { runCli } from './cli.ts';
import { complain, EXIT, type ExitCode } from './exit.ts';
import { interruptHandler } from './interrupt.ts';

const { stdin, stdout, stderr } = process;
const turn = new AbortController();
const stop = new AbortController();
const now = (): number => performance.now();
const outputFaults: NodeJS.ErrnoException[] = [];

let cancelledCode: ExitCode = EXIT.cancelled;
const interrupt = interruptHandler({
  cancel: () => {
    turn.abort();
    stop.abort();
  },
  forceExit: () => process.exit(cancelledCode),
  now,
});
process.on('SIGINT', interrupt);
process.on('SIGTERM', () => {
  cancelledCode = EXIT.terminated;
  interrupt();
});

stdout.on('error', (error: NodeJS.ErrnoException) => {
  outputFaults.push(error);
  turn.abort();
  if (!isGone(error)) stop.abort();
});
stderr.on('error', () => {
  // nobody is left to tell
});

const terminal = stdin.isTTY && stdout.isTTY ? { input: stdin, output: stdout } : undefined;
const { env } = process;
const signals = { signal: turn.signal, stopSignal: stop.signal };
const io = { stdout, stderr, terminal, env, cwd: process.cwd(), ...signals, now };
let exitCode: ExitCode;
try {
  exitCode = await runCli(process.argv.slice(2), io);
  if (exitCode === EXIT.cancelled) exitCode = cancelledCode;
} catch (error) {
  complain(stderr, errorMessage(error));
  exitCode = EXIT.failed;
}
await flushed(stdout);
const [outputFault] = outputFaults;
if (outputFault !== undefined && !isGone(outputFault)) {
  complain(stderr, `stdout: ${outputFault.message}`);
  exitCode = EXIT.failed;
}
await flushed(stderr);
// Not left to run dry: a tool that ignores its signal must not keep a cancelled turn's process.
process.exit(exitCode);

/** The reader has seen enough, as in `| head -1`. */
function isGone({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE';
}

/** Settles when everything written before it has gone out, or cannot. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => {
      resolve();
    });
  });
}
