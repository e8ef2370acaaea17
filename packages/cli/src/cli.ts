import { runAsk } from './ask-command.ts';
import { parseCommand, type Command } from './command-line.ts';
import { EXIT, misused, refuse, Refusal, type ExitCode } from './exit.ts';
import { helpText } from './help.ts';
import type { CliIo, CliParts } from './io.ts';
import { runPrompt } from './prompt.ts';
import { runServe } from './serve-command.ts';
import { runCheck, runLog } from './session-commands.ts';
import { runTools } from './tools.ts';

/** The version of this package, as its package.json has it. */
export const CLI_VERSION = '0.1.0';

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
  try {
    return await run(parseCommand(argv), io, parts);
  } catch (error) {
    if (error instanceof Refusal) return refuse(io.stderr, error);
    throw error;
  }
}

async function run(command: Command, io: CliIo, parts: CliParts): Promise<ExitCode> {
  switch (command.kind) {
    case 'help':
      io.stdout.write(helpText());
      return EXIT.completed;
    case 'version':
      io.stdout.write(`celestea ${CLI_VERSION}\n`);
      return EXIT.completed;
    case 'ask':
      return runAsk(command.input, command.options, io, parts);
    case 'prompt': {
      const { terminal, env } = io;
      if (terminal !== undefined && env['TERM'] !== 'dumb') {
        return runPrompt(command.options, io, terminal, parts);
      }
      io.stdout.write(helpText());
      if (command.bare) return EXIT.completed;
      throw misused('question: expected some words, got nothing');
    }
    case 'log':
      return runLog(command.file, command.options, io);
    case 'check':
      return runCheck(command.file, io);
    case 'tools':
      return runTools(command.options, io);
    case 'serve':
      return runServe(command.options, io, parts);
    default:
      return command satisfies never;
  }
}
