import type { LlmFromEnvOptions, NamedLlm } from '@celestea/llm';

/** Where a command writes: a Node stream will do. */
export interface Output {
  write(text: string): unknown;
  /** Whether a person's terminal is at the other end. */
  readonly isTTY?: boolean;
}

/** The terminal of a person, who reads what is written and types. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** Everything a command gets from outside, so that it runs the same in a test as in a shell. */
export interface CliIo {
  /** What was asked for. */
  readonly stdout: Output;
  /** What went wrong. */
  readonly stderr: Output;
  /** There when stdin and stdout are one; without it there is no prompt. */
  readonly terminal?: Terminal | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder the process runs in. */
  readonly cwd: string;
  /** Cancels the turn, and ends a prompt; it belongs to the caller. */
  readonly signal: AbortSignal;
  /**
   * Ends what is served, which goes on when nobody reads stdout any more; `signal` unless given.
   */
  readonly stopSignal?: AbortSignal | undefined;
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
}

/** What a host may put in place of the command's own parts. */
export interface CliParts {
  /** Answers, whatever the command line and the environment say. */
  readonly model?: NamedLlm;
  /** Finds the model that they name, in place of `llmFromEnv`; `null` is the offline one. */
  readonly findModel?: (options: LlmFromEnvOptions) => Promise<NamedLlm | null>;
}
