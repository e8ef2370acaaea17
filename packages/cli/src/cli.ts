import { parseCommand } from './args.ts';
import { runCheck } from './check-command.ts';
import type { CliParts } from './cli-parts.ts';
import { misuse } from './complain.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { HELP } from './help.ts';
import type { CliIo } from './io.ts';
import { runLog } from './log-command.ts';
import { runPrompt } from './prompt.ts';
import { runTurn } from './run-turn.ts';
import { runServe } from './serve-command.ts';
import { runTools } from './tools-command.ts';
import { CLI_VERSION } from './version.ts';

/**
 * Runs the command `celestea` and gives its exit code; touches nothing but `io`, the server of
 * the model that `io.env` and the options name, the files of the folder, what the person allows
 * the tools, and the files that keep the session. Without a question it opens a prompt on
 * `io.terminal`; `serve` listens at a port of this machine. Rejects only with what a broken seam throws.
 *
 * @example
 * const { stdout, stderr, env } = process;
 * const io = { stdout, stderr, env, cwd: process.cwd(), signal, now: () => performance.now() };
 * process.exitCode = await runCli(['what is in README.md?'], io);
 *
 * @param argv the words after the command's name
 */
export async function runCli(
  argv: readonly string[],
  io: CliIo,
  parts: CliParts = {},
): Promise<ExitCode> {
  const parsed = parseCommand(argv);
  if (!parsed.ok) return misuse(io.stderr, parsed.error);
  const { command } = parsed;
  switch (command.kind) {
    case 'help':
      io.stdout.write(HELP);
      return EXIT.completed;
    case 'version':
      io.stdout.write(`celestea ${CLI_VERSION}\n`);
      return EXIT.completed;
    case 'ask':
      return runTurn(command, io, parts);
    case 'prompt': {
      const { terminal, env } = io;
      if (terminal !== undefined && env['TERM'] !== 'dumb') {
        return runPrompt(command, io, terminal, parts);
      }
      io.stdout.write(HELP);
      if (command.bare) return EXIT.completed;
      return misuse(io.stderr, 'question: expected some words, got nothing');
    }
    case 'log':
      return runLog(command, io);
    case 'check':
      return runCheck(command, io);
    case 'tools':
      return runTools(command, io);
    case 'serve':
      return runServe(command, io, parts);
    default:
      return command satisfies never;
  }
}
