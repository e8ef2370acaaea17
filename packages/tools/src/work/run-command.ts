import type { Tool } from '@celestea/core';

import { defineTool } from '../define-tool.ts';
import { expectedKind, PATH, type FileRoot } from '../files/file-root.ts';
import { noteOf } from '../text.ts';
import { commandEnvironment } from './environment.ts';
import { PinnedFolder } from './pinned-folder.ts';
import { runProcess, type ProcessEnd } from './run-process.ts';

const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_TIMEOUT_MS = 600_000;

/** What `run_command` gives, whatever code the command ended with. */
export interface RunCommandResult {
  /** `null` when a signal ended it. */
  exit_code: number | null;
  /** The signal that ended it, such as `SIGTERM`. */
  signal: string | null;
  /** Its first and last 32 KiB, with a note of how many bytes were left out between. */
  stdout: string;
  /** As `stdout`. */
  stderr: string;
  /** Whether it was ended because its time was up. */
  timed_out: boolean;
  /** What else there is to know: that its time was up, that something was left running. */
  note?: string;
}

/** How commands are run. */
export interface RunCommandSettings {
  /** Added to the environment, which holds no secret by itself. */
  env: Record<string, string>;
  /** How many milliseconds a command is given between SIGTERM and SIGKILL. */
  graceMs: number;
}

/**
 * The tool `run_command`: one program with its arguments, without a shell. It starts in a folder
 * at or below the root, but it is not confined to it: it may do whatever this process may. So it
 * is for a person to approve each one, or for a container to hold them.
 *
 * Nothing is left behind: with the command goes what it started, save what made itself a session of
 * its own. Not on Windows, which has no process groups to hold it to that.
 */
export function runCommandTool(files: FileRoot, settings: RunCommandSettings): Tool {
  return defineTool({
    name: 'run_command',
    description:
      'Runs a program and gives its exit code and output. No shell: the arguments are passed on ' +
      'as they are. It gets no input, and what it leaves running is ended.',
    parameters: {
      type: 'object',
      properties: {
        command: {
          type: 'array',
          items: { type: 'string' },
          minItems: 1,
          description: 'The program and its arguments, such as ["git", "status"].',
        },
        cwd: {
          ...PATH,
          default: '.',
          description: 'The folder to run it in, relative to the root; the root when left out.',
        },
        timeout_ms: {
          type: 'integer',
          minimum: 1,
          maximum: MAX_TIMEOUT_MS,
          default: DEFAULT_TIMEOUT_MS,
          description: 'After how many milliseconds it is ended.',
        },
      },
      required: ['command'],
      additionalProperties: false,
    },
    async execute({ command, cwd = '.', timeout_ms: timeoutMs = DEFAULT_TIMEOUT_MS }, { signal }) {
      const [file = '', ...args] = command;
      checkCommand(file, command);
      refuseWindows();
      signal?.throwIfAborted();
      const end = await inFolder(files, cwd, (folder) => {
        signal?.throwIfAborted();
        const env = commandEnvironment(process.env, settings.env);
        const { graceMs } = settings;
        return runProcess({ file, args, cwd: folder, env, timeoutMs, graceMs, signal });
      });
      if (signal?.aborted === true) throw new Error('cancelled; the command was ended');
      return resultOf(end, timeoutMs);
    },
    render: ({ exit_code, signal, timed_out }) => {
      if (timed_out) return 'ended: its time was up';
      return exit_code === null ? `ended by ${signal ?? 'nobody'}` : `exit ${String(exit_code)}`;
    },
  });
}

function checkCommand(file: string, command: readonly string[]): void {
  if (file === '') throw new Error('command: expected the name of a program first, got none');
  if (!command.some((part) => part.includes('\0'))) return;
  throw new Error('command: expected strings without NUL characters, got one with NUL');
}

function refuseWindows(): void {
  if (process.platform !== 'win32') return;
  throw new Error(
    'run_command does not work on Windows: what a command starts could not be ended with it there',
  );
}

/** Runs `use` with a path to a folder that stays the same one, whatever is put in its place. */
async function inFolder<T>(
  files: FileRoot,
  cwd: string,
  use: (path: string) => Promise<T>,
): Promise<T> {
  const folder = await openFolder(files, cwd).catch((error: unknown) => {
    const text = error instanceof Error ? error.message : String(error);
    throw new Error(text.replace(/^path: /, 'cwd: '));
  });
  try {
    return await use(folder.path);
  } finally {
    await folder.close();
  }
}

async function openFolder(files: FileRoot, cwd: string): Promise<PinnedFolder> {
  const place = await files.locate(cwd);
  const kind = await files.kindAt(place);
  if (kind !== 'folder') throw expectedKind('folder', kind, place.shown);
  return PinnedFolder.open(place.real, place.shown);
}

function resultOf(end: ProcessEnd, timeoutMs: number): RunCommandResult {
  const isLate = end.endedFor === 'timeout';
  return {
    exit_code: end.exitCode,
    signal: end.signal,
    stdout: end.stdout,
    stderr: end.stderr,
    timed_out: isLate,
    ...noteOf(
      isLate && `it was ended after ${String(timeoutMs)} ms`,
      end.hadLeftovers && 'what it had left running was ended',
      !end.isOver && 'something it started could not be ended and still runs',
    ),
  };
}
